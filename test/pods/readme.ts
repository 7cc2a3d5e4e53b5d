import { readFileSync } from 'node:fs';

/** The manifests that people copy: a Job with its fluent.conf. The native sidecar's comes first, rpc's second. */
export const nativeBlock = (): string => jobBlocks()[0] ?? '';
export const rpcBlock = (): string => jobBlocks()[1] ?? '';

function jobBlocks(): readonly string[] {
  return blocksIn('docker/README.md', 'yaml').filter((block) => block.includes('kind: Job\n'));
}

/** The code blocks of a page in one language. */
export function blocksIn(page: string, language: string): readonly string[] {
  const fences = readFileSync(page, 'utf8').split(`\`\`\`${language}\n`).slice(1);
  return fences.map((text) => text.split('\n```')[0] ?? '');
}
