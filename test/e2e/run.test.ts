import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  fileBuffer,
  makeWorkDir,
  output,
  renderConf,
  tail,
  toForward,
  toStdout,
  type WorkDir,
} from '../support/fluentd-conf.ts';
import { type PosidleRun, posidle, startPosidle } from '../support/posidle.ts';
import { containerEnv, NEWEST, requireFluentd } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const CONTAINER = [
  'unshare',
  '--fork',
  '--pid',
  '--mount-proc',
  '--kill-child',
  process.execPath,
  'dist/cli.js',
];
const READY = /fluentd worker is now running/;

describe(`posidle run, with Fluentd ${NEWEST}`, () => {
  let work: WorkDir;
  let running: PosidleRun | undefined;

  beforeEach((context) => {
    requireFluentd(NEWEST, context);
    work = makeWorkDir('run');
  });

  afterEach(async () => {
    running?.kill('SIGKILL');
    await running?.exited;
    running = undefined;
    rmSync(work.dir, { recursive: true, force: true });
  });

  const log = () => join(work.logs, 'app.log');
  const conf = () => join(work.dir, 'fluent.conf');
  const writeConf = (
    text = renderConf([tail(join(work.logs, '*.log'), work.pos, { refresh_interval: '1s' }), toStdout()]),
  ) => writeFileSync(conf(), text);
  const fluentdCommand = () => [requireFluentd(NEWEST).command, '-c', conf()];
  const env = () => containerEnv(requireFluentd(NEWEST), work.dir);
  /** As the first process of a container of its own, where it sees its own processes only. */
  const runInContainer = (...options: readonly string[]) => {
    running = startPosidle(['run', ...options, '--', ...fluentdCommand()], {
      env: env(),
      wrapper: CONTAINER,
    });
    return running;
  };
  const printed = (run: PosidleRun, what: RegExp) =>
    until(`fluentd prints ${what}`, () => what.test(run.stdout()));

  test('stops it after a quiet window, passes its output through, and exits 0', async () => {
    writeConf();
    writeFileSync(log(), 'line 1\nline 2\n');
    const run = runInContainer('--quiet', '2s');
    expect(await run.exited).toBe(0);
    expect(run.stdout()).toMatch(/line 2/);
    expect(run.stdout()).toMatch(/Worker 0 finished with status 0/);
  });

  test('does not take for a loss what another Fluentd put aside before the start', async () => {
    const root = join(work.dir, 'root');
    const system = { name: 'system', params: { root_dir: root } };
    const source = tail(join(work.logs, '*.log'), work.pos, { refresh_interval: '1s' });
    const out = output('stdout', { '@id': 'out' }, [fileBuffer(join(work.dir, 'buffer'))]);
    writeConf(renderConf([system, source, out]));
    const backups = join(root, 'backup', 'worker0', 'out');
    mkdirSync(backups, { recursive: true });
    writeFileSync(join(backups, '61a0c3d2e4f5a6b7c8d9e0f1a2b3c4d5.log'), 'line 0\n');
    writeFileSync(log(), 'line 1\n');
    const run = runInContainer('--quiet', '2s', '--strict');
    expect(await run.exited).toBe(0);
    expect(run.stdout()).toMatch(/line 1/);
  });

  test('a done file that is there from the start still leaves Fluentd the time to start and to deliver', async () => {
    writeConf();
    writeFileSync(log(), 'line 1\n');
    writeFileSync(join(work.dir, 'done'), '');
    const run = runInContainer('--done-file', join(work.dir, 'done'));
    expect(await run.exited).toBe(0);
    expect(run.stdout()).toMatch(/line 1/);
  });

  test('SIGTERM drains: what was written just before is delivered', async () => {
    writeConf();
    const run = runInContainer('--quiet', 'off');
    await printed(run, READY);
    writeFileSync(log(), 'line 1\n'.repeat(1_000));
    signalInside(run, 'SIGTERM');
    expect(await run.exited).toBe(0);
    expect(run.stdout().match(/line 1/g)).toHaveLength(1_000);
  });

  test('a supervisor that is killed ends worker and container with 137', async () => {
    writeConf();
    writeFileSync(log(), 'line 1\n');
    const run = runInContainer('--quiet', 'off');
    await printed(run, /line 1/);
    const supervisor = Number(
      /fluentd runs: pid (\d+), 1 worker/.exec((await run.logged(/1 worker/)).msg)?.[1],
    );
    appendFileSync(log(), 'line 2\n');
    await printed(run, /line 2/);
    signalInside(run, 'SIGKILL', supervisor);
    expect(await run.exited).toBe(137);
    expect(run.log().at(-1)).toMatchObject({ outcome: { end: 'ended-by-itself' } });
  });

  test('SIGUSR1 reaches Fluentd, and opens no inspector', async () => {
    writeConf();
    writeFileSync(log(), 'line 1\n');
    const run = runInContainer('--quiet', 'off');
    await printed(run, /line 1/);
    signalInside(run, 'SIGUSR1');
    await printed(run, /force flushing buffered events/);
    expect(run.stderr()).not.toMatch(/Debugger listening/);
    signalInside(run, 'SIGTERM');
    expect(await run.exited).toBe(0);
  });

  // These depend on posidle alone.
  test('a Fluentd that cannot start ends it with its own exit code', async () => {
    writeConf('<source>\n  @type no_such_input\n</source>\n');
    const run = runInContainer('-p', work.pos, '--start-timeout', '20s');
    expect(await run.exited).toBe(1);
  });

  test('under tini no zombie is left of a child that forks and orphans', async (context) => {
    const hasTini = spawnSync('tini', ['--version']).error === undefined;
    context.skip(!hasTini, 'tini is not installed: run apt-get install tini');
    writeConf();
    writeFileSync(log(), 'line 1\n');
    const [init, ...args] = CONTAINER;
    const wrapper = [init ?? '', ...args.slice(0, -2), 'tini', '--', ...args.slice(-2)];
    const orphaning = ['sh', '-c', '(sleep 2 & sleep 1 &); exec "$0" "$@"', ...fluentdCommand()];
    running = startPosidle(['run', '--quiet', 'off', '--', ...orphaning], {
      env: env(),
      wrapper,
    });
    await printed(running, /line 1/);
    const { pid } = running;
    await until('the orphans have ended', () => !/sleep/.test(inside(pid, 'cat /proc/[0-9]*/comm')));
    expect(inside(pid, 'cat /proc/[0-9]*/stat')).not.toMatch(/\) Z /);
    signalInside(running, 'SIGTERM');
    expect(await running.exited).toBe(0);
  });

  test('a second SIGTERM stops at once, without waiting for the drain', async () => {
    writeFileSync(log(), 'line 1\n');
    writeConf(
      renderConf([
        tail(log(), work.pos, { refresh_interval: '1s' }),
        toForward(9, fileBuffer(work.buffer, { flush_interval: '60s' })),
      ]),
    );
    const run = runInContainer('--quiet', 'off', '--grace', '60s');
    await run.logged(/→ watching/);
    signalInside(run, 'SIGTERM');
    await run.logged(/sent SIGUSR1|to flush$/);
    const before = Date.now();
    signalInside(run, 'SIGTERM');
    expect(await run.exited).toBe(0);
    expect(Date.now() - before).toBeLessThan(40_000);
  });

  // Before 1.18 SIGUSR2 reloads inside the worker.
  test('SIGUSR2 replaces the supervisor: its end is not the end of Fluentd', async () => {
    writeConf();
    writeFileSync(log(), 'line 1\n');
    const run = runInContainer('--quiet', 'off');
    await printed(run, /line 1/);
    const first = (await run.logged(/1 worker/)).msg;
    signalInside(run, 'SIGUSR2');
    await until('another supervisor runs', () =>
      run.log().some(({ msg }) => /fluentd runs: pid \d+, 1 worker/.test(msg) && msg !== first),
    );
    appendFileSync(log(), 'line 2\n');
    await printed(run, /line 2/);
    signalInside(run, 'SIGTERM');
    expect(await run.exited).toBe(0);
  });
});

test('a command that is not there exits 127, one that cannot be executed 126', async () => {
  const { dir } = makeWorkDir('run');
  const file = join(dir, 'no-program');
  writeFileSync(file, '', { mode: 0o644 });
  expect(await posidle('run', '-p', '/tmp/x.pos', '--', '/no/such/fluentd')).toMatchObject({ code: 127 });
  expect(await posidle('run', '-p', '/tmp/x.pos', '--', file)).toMatchObject({ code: 126 });
  expect(await posidle('run', '-p', '/tmp/x.pos')).toMatchObject({ code: 2 });
});

/** Sends a signal inside the container: to its PID 1, or to a pid as it is seen in there. */
function signalInside({ pid }: PosidleRun, signal: NodeJS.Signals, inner = 1): void {
  inside(pid, `kill -s ${signal.slice(3)} ${inner}`);
}

/** What a shell command prints inside the container that `unshare` started as `pid`. */
function inside(pid: number, command: string): string {
  const [init] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const enter = ['--target', String(init), '--pid', '--mount', 'sh', '-c', command];
  return spawnSync('nsenter', enter, { encoding: 'utf8' }).stdout;
}
