import { readFileSync } from 'node:fs';

/** The code blocks of a page in one language. */
export function blocksIn(page: string, language: string): readonly string[] {
  const fences = readFileSync(page, 'utf8').split(`\`\`\`${language}\n`).slice(1);
  return fences.map((text) => text.split('\n```')[0] ?? '');
}
