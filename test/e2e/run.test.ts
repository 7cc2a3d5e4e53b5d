import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ONE_VERSION, onFluentd, test } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, renderConf, tail, toFile, toStdout } from '../support/fluentd-conf.ts';
import { CONTAINER, POSIDLE, type PosidleRun, posidle, startPosidle } from '../support/posidle.ts';
import { containerEnv, READY_LINE, requireFluentd } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

onFluentd(ONE_VERSION, (version) => {
  interface How {
    readonly args?: readonly string[];
    readonly conf?: string;
    readonly init?: readonly string[];
    /** Words before Fluentd's own command. */
    readonly wrapper?: readonly string[];
  }

  /** With one line in its log. */
  const run = (site: Site, { args = ['--quiet', 'off'], conf, init = [], wrapper = [] }: How = {}) => {
    const source = tail(site.log('*.log'), site.pos, { refresh_interval: '1s' });
    writeFileSync(site.conf, conf ?? renderConf([source, toStdout()]));
    appendFileSync(site.log('app.log'), 'line 1\n');
    const fluentd = requireFluentd(version);
    const command = [...wrapper, fluentd.command, '-c', site.conf];
    return startPosidle(['run', ...args, '--', ...command], {
      env: containerEnv(fluentd, site.dir),
      wrapper: [...CONTAINER, ...init, ...POSIDLE],
    });
  };
  const printed = ({ stdout }: PosidleRun, what: RegExp) =>
    until(`fluentd prints ${what}`, () => what.test(stdout()));

  test('a supervisor that is killed ends worker and container with 137', async ({ site }) => {
    const running = run(site);
    await printed(running, /line 1/);
    const { msg } = await running.logged(/1 worker/);
    signalInside(running, 'SIGKILL', Number(/fluentd runs: pid (\d+), 1 worker/.exec(msg)?.[1]));
    expect(await running.exited).toBe(137);
    expect(running.log().at(-1)).toMatchObject({ outcome: { end: 'ended-by-itself' } });
  });

  test('a Fluentd that ends by itself with code 0 hides no loss', async ({ site }) => {
    const source = tail(site.log('*.log'), site.pos, { refresh_interval: '1s' });
    const out = toFile(site.out, fileBuffer(site.buffer, { flush_interval: '60s' }));
    const running = run(site, { conf: renderConf([source, out]) });
    const { msg } = await running.logged(/1 worker/);
    await site.isRead('app.log');
    signalInside(running, 'SIGTERM', Number(/fluentd runs: pid (\d+), 1 worker/.exec(msg)?.[1]));
    expect(await running.exited).toBe(3);
    const outcome = { end: 'ended-by-itself', outcome: 'not-drained' };
    expect(running.log().at(-1)).toMatchObject({ outcome });
  });

  test('SIGUSR1 reaches Fluentd, and opens no inspector', async ({ site }) => {
    const running = run(site);
    await printed(running, /line 1/);
    signalInside(running, 'SIGUSR1');
    await printed(running, /force flushing buffered events/);
    expect(running.stderr()).not.toMatch(/Debugger listening/);
    signalInside(running, 'SIGTERM');
    expect(await running.exited).toBe(0);
    // SIGTERM does not say that main has ended.
    const outcome = { trigger: 'SIGTERM', doubts: { count: 1, worst: [{ kind: 'main-may-run' }] } };
    expect(running.log().at(-1)).toMatchObject({ outcome });
  });

  // Before 1.18 SIGUSR2 reloads inside the worker.
  test('SIGUSR2 replaces the supervisor: its end is not the end of Fluentd', async ({ site }) => {
    // The old one is stopped after 10 s at the earliest (supervisor.rb).
    const running = run(site, { args: ['--quiet', 'off', '--grace', '60s'] });
    await printed(running, /line 1/);
    const first = (await running.logged(/1 worker/)).msg;
    signalInside(running, 'SIGUSR2');
    await until('another supervisor runs', () =>
      running.log().some(({ msg }) => /fluentd runs: pid \d+, 1 worker/.test(msg) && msg !== first),
    );
    appendFileSync(site.log('app.log'), 'line 2\n');
    await printed(running, /line 2/);
    signalInside(running, 'SIGTERM');
    expect(await running.exited).toBe(0);
  });

  test('a Fluentd that cannot start ends it with its own exit code', async ({ site }) => {
    const args = ['-p', site.pos, '--start-timeout', '20s'];
    const running = run(site, { args, conf: '<source>\n  @type no_such_input\n</source>\n' });
    expect(await running.exited).toBe(1);
  });

  test('under tini no zombie is left of a child that forks and orphans', async ({ site, skip }) => {
    const hasTini = spawnSync('tini', ['--version']).error === undefined;
    skip(!hasTini, 'tini is not installed: run apt-get install tini');
    const wrapper = ['sh', '-c', '(sleep 2 & sleep 1 &); exec "$0" "$@"'];
    const running = run(site, { init: ['tini', '--'], wrapper });
    await printed(running, new RegExp(READY_LINE));
    await until('the orphans have ended', () => !/sleep/.test(inside(running, 'cat /proc/[0-9]*/comm')));
    expect(inside(running, 'cat /proc/[0-9]*/stat')).not.toMatch(/\) Z /);
    signalInside(running, 'SIGTERM');
    expect(await running.exited).toBe(0);
  });
});

test('a command that is not there exits 127, one that cannot be executed 126', async ({ site }) => {
  const file = join(site.dir, 'no-program');
  writeFileSync(file, '', { mode: 0o644 });
  expect(await posidle('run', '-p', '/tmp/x.pos', '--', '/no/such/fluentd')).toMatchObject({ code: 127 });
  expect(await posidle('run', '-p', '/tmp/x.pos', '--', file)).toMatchObject({ code: 126 });
});

/** Sends a signal inside the container: to its PID 1, or to a pid as it is seen in there. */
function signalInside(running: PosidleRun, signal: NodeJS.Signals, inner = 1): void {
  inside(running, `kill -s ${signal.slice(3)} ${inner}`);
}

/** The output of a shell command inside the container that `unshare` started. */
function inside({ pid }: PosidleRun, command: string): string {
  const [init] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const enter = ['--target', String(init), '--pid', '--mount', 'sh', '-c', command];
  return spawnSync('nsenter', enter, { encoding: 'utf8' }).stdout;
}
