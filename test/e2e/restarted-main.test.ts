import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { ONE_VERSION, onFluentd, startBeside, test } from '../support/delivery.ts';
import { tail, toStdout } from '../support/fluentd-conf.ts';
import { startPosidle } from '../support/posidle.ts';
import { witnessIn } from '../support/real-fluentd.ts';

const LINES = 500;
/** From the failure to the second attempt: the kubelet's back-off. */
const BACK_OFF = 2_000;
const LONGER = '6s';

/** Writes its lines, lives until its stdin is closed, and makes its done file when it succeeds. */
const MAIN = `for line in $(seq ${LINES}); do echo "attempt $1 line $line"; done >>$3
  touch $2/alive
  while read -t 0.2; [ $? -gt 128 ]; do touch $2/alive; done
  [ $1 = 2 ] && touch $2/done`;

/** The README's advice for a main that may be restarted, one row each. */
const REMEDIES: Readonly<Record<string, (dir: string) => readonly string[]>> = {
  'a done file that main makes only when it succeeds': (dir) => ['--done-file', join(dir, 'done')],
  '--done-process with a --main-gone that is longer than the back-off': (dir) => [
    ...['--done-process', `attempt-in ${dir}`],
    ...['--main-gone', LONGER],
  ],
  '--heartbeat-file with a --main-gone that is longer than the back-off': (dir) => [
    ...['--heartbeat-file', join(dir, 'alive')],
    ...['--main-gone', LONGER],
  ],
  'a quiet window that is longer than the back-off': () => ['--quiet', LONGER],
};

onFluentd(ONE_VERSION, (version) => {
  test.for(Object.entries(REMEDIES))(
    'a main that is started again loses nothing with %s',
    async ([, flagsIn], { site }) => {
      const source = tail(site.log('*.log'), site.pos, { refresh_interval: '1s' });
      const fluentd = startBeside(site, { version, conf: [source, toStdout()] });
      await fluentd.ready;
      const watched = ['-c', site.conf, '--witness', witnessIn(site.dir)];
      const flags = flagsIn(site.dir);
      const run = startPosidle(['watch', ...watched, ...flags, '--strict']);
      const seen = run.logged(
        flags.includes('--done-process') ? /posidle sees main's process/ : /→ watching/,
      );
      await playKubelet(site.dir, site.log('app.log'), seen);
      expect(await run.exited).toBe(0);
      expect(new Set(fluentd.output().match(/attempt \d line \d+/g)).size).toBe(2 * LINES);
    },
  );
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
