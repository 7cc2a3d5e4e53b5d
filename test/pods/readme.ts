import { readFileSync } from 'node:fs';

/** The manifests that people copy: a Job with its fluent.conf. */
export function rpcBlock(): string {
  const blocks = readFileSync('docker/README.md', 'utf8')
    .split('```yaml\n')
    .map((text) => text.split('\n```')[0]);
  return blocks.find((block) => block?.includes('kind: Job\n')) ?? '';
}
