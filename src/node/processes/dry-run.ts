import { execFile } from 'node:child_process';

const TIMEOUT = 20_000;

/** What `fluentd --dry-run` prints: the evaluated configuration among other lines; undefined where there is no fluentd command. */
export function dryRun(conf: string, further: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      'fluentd',
      ['--dry-run', '-c', conf, ...further],
      { timeout: TIMEOUT, maxBuffer: 64 << 20 },
      (error, stdout) => resolve(error === null && stdout.includes('<ROOT>') ? stdout : undefined),
    );
  });
}
