import { readFileSync } from 'node:fs';

/** The Job that people copy, with its fluent.conf. */
export const nativeBlock = (): string => blockWith('kind: Job\n');
/** A CronJob around it. */
export const cronJobBlock = (): string => blockWith('kind: CronJob\n');

function blockWith(text: string): string {
  return blocksIn('docker/README.md', 'yaml').find((block) => block.includes(text)) ?? '';
}

/** The code blocks of a page in one language. */
export function blocksIn(page: string, language: string): readonly string[] {
  const fences = readFileSync(page, 'utf8').split(`\`\`\`${language}\n`).slice(1);
  return fences.map((text) => text.split('\n```')[0] ?? '');
}
