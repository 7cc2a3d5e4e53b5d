import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeWorkDir, renderConf, tail, toStdout } from '../support/fluentd-conf.ts';
import { skipFor } from '../support/needs.ts';
import { startPosidle } from '../support/posidle.ts';
import { missingFluentd, NEWEST, startFluentd, witnessIn } from '../support/real-fluentd.ts';

const LINES = 500;
/** From the failure to the second attempt: the kubelet's back-off. */
const BACK_OFF = 2_000;
const LONGER = '6s';

/** Writes its lines, lives until its stdin is closed, and makes its done file when it succeeds. */
const MAIN = `for line in $(seq ${LINES}); do echo "attempt $1 line $line"; done >>$3
  touch $2/alive
  while read -t 0.2; [ $? -gt 128 ]; do touch $2/alive; done
  [ $1 = 2 ] && touch $2/done`;

/** What README tells to do where main may be restarted, a row each. */
const REMEDIES: Readonly<Record<string, (dir: string) => readonly string[]>> = {
  'a done file that main makes only when it succeeds': (dir) => ['--done-file', join(dir, 'done')],
  'a --done-process-gone that is longer than the back-off': (dir) => [
    ...['--done-process', `attempt-in ${dir}`],
    ...['--done-process-gone', LONGER],
  ],
  'a --heartbeat-age that is longer than the back-off': (dir) => [
    ...['--heartbeat-file', join(dir, 'alive')],
    ...['--heartbeat-age', LONGER],
  ],
  'a quiet window that is longer than the back-off': () => ['--quiet', LONGER],
};

describe.concurrent('a main that fails, and is started again', () => {
  skipFor(missingFluentd(NEWEST));
  test.each(Object.entries(REMEDIES))('loses nothing with %s', async (_, flagsIn) => {
    const { dir, logs, pos } = makeWorkDir('restarted');
    const conf = renderConf([tail(join(logs, '*.log'), pos, { refresh_interval: '1s' }), toStdout()]);
    const fluentd = startFluentd({ version: NEWEST, dir, conf });
    try {
      await fluentd.ready;
      const watched = [
        '-c',
        join(dir, 'fluent.conf'),
        '--pid',
        String(fluentd.pid),
        '--witness',
        witnessIn(dir),
      ];
      const flags = flagsIn(dir);
      const run = startPosidle(['watch', ...watched, ...flags, '--strict']);
      const seen = run.logged(flags.includes('--done-process') ? /main's process is seen/ : /→ watching/);
      await playKubelet(dir, join(logs, 'app.log'), seen);
      expect(await run.exited).toBe(0);
      expect(new Set(fluentd.output().match(/attempt \d line \d+/g)).size).toBe(2 * LINES);
    } finally {
      fluentd.kill();
      await fluentd.exited;
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

/** Starts main, and once more when it has failed. The first attempt writes half of the lines, is seen, and fails. */
async function playKubelet(dir: string, log: string, seen: Promise<unknown>): Promise<void> {
  for (const attempt of [1, 2]) {
    const child = spawn('bash', ['-c', MAIN, `attempt-in ${dir}`, String(attempt), dir, log]);
    const exited = once(child, 'exit');
    await seen;
    child.stdin.end();
    await exited;
    if (attempt === 1) await pause(BACK_OFF);
  }
}
