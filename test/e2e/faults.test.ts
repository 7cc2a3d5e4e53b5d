import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  fileBuffer,
  makeWorkDir,
  memoryBuffer,
  renderConf,
  type Section,
  tail,
  toFile,
  toStdout,
  type WorkDir,
} from '../support/fluentd-conf.ts';
import { type PosidleOptions, type PosidleRun, posidle, startPosidle } from '../support/posidle.ts';
import {
  containerEnv,
  type FluentdRun,
  NEWEST,
  requireFluentd,
  startFluentd,
  witnessIn,
} from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const POSIDLE = [process.execPath, CLI];
/** Sees no process but its own; all of them end with it. */
const CONTAINER = ['unshare', '--fork', '--pid', '--mount-proc', '--kill-child', ...POSIDLE];
const BUSY_PORT = 24_643;

let work: WorkDir;
let fluentd: FluentdRun | undefined;
let running: PosidleRun | undefined;
let server: Server | undefined;

beforeEach((context) => {
  requireFluentd(NEWEST, context);
  work = makeWorkDir('faults');
});

afterEach(async () => {
  running?.kill('SIGKILL');
  fluentd?.kill();
  server?.closeAllConnections();
  server?.close();
  await Promise.all([running?.exited, fluentd?.exited]);
  running = undefined;
  fluentd = undefined;
  server = undefined;
  rmSync(work.dir, { recursive: true, force: true });
});

const conf = () => join(work.dir, 'fluent.conf');
const log = (name: string) => join(work.logs, name);
const marker = () => join(work.dir, 'done');
const lines = (count: number, what = 'line') =>
  Array.from({ length: count }, (_, index) => `${what} ${index + 1}\n`).join('');
const tailAll = (params = {}) => tail(log('*.log'), work.pos, { refresh_interval: '1s', ...params });
const toOut = (buffer: Section) => toFile(join(work.dir, 'out'), buffer);
const lateFileBuffer = () => fileBuffer(work.buffer, { flush_interval: '60s' });
/** How many lines out_file has written. */
const delivered = () =>
  readdirSync(work.dir)
    .filter((name) => /^out\..*\.log$/.test(name))
    .reduce((sum, name) => sum + linesIn(readFileSync(join(work.dir, name), 'utf8')), 0);
const linesIn = (text: string) => text.match(/line \d+/g)?.length ?? 0;
const chunks = () => readdirSync(work.buffer).filter((name) => name.endsWith('.log'));

const start = async (...sections: readonly Section[]) => {
  fluentd = startFluentd({ version: NEWEST, dir: work.dir, conf: renderConf(sections) });
  await fluentd.ready;
  return fluentd;
};
const watch = (options: readonly string[], how?: PosidleOptions) => {
  const witness = options.includes('--witness') ? [] : ['--witness', witnessIn(work.dir)];
  running = startPosidle(['watch', ...witness, ...options], how);
  return running;
};
/** As the first process of a container of its own. */
const run = (options: readonly string[], command = [requireFluentd(NEWEST).command, '-c', conf()]) => {
  const env = containerEnv(requireFluentd(NEWEST), work.dir);
  running = startPosidle(['run', ...options, '--', ...command], { env, wrapper: CONTAINER });
  return running;
};
const outcomeOf = ({ log }: PosidleRun) =>
  log()
    .map(({ outcome }) => outcome)
    .findLast((outcome) => outcome !== undefined);

test('a port that is taken is told before the command is started', async () => {
  server = createServer().listen(BUSY_PORT, '127.0.0.1');
  await until('the port is taken', () => server?.listening);
  writeFileSync(conf(), renderConf([tailAll(), toStdout()]));
  const refused = run(['--listen', `127.0.0.1:${BUSY_PORT}`, '-c', conf()], ['echo', 'started']);
  expect(await refused.exited).toBe(2);
  expect(refused.stdout()).toBe('');
  expect(refused.stderr()).toMatch(/--listen: cannot listen on 127\.0\.0\.1:24643/);
});

const STDERRS = [
  ['on a full disk', 'exec "$@" 2>/dev/full'],
  [
    'a full pipe that nobody reads',
    'mkfifo fifo; exec 3<>fifo; dd if=/dev/zero of=fifo bs=4096 oflag=nonblock 2>dd.txt; exec "$@" 2>&3',
  ],
  ['a pipe whose reader is gone', 'mkfifo fifo; (read _ <fifo) & exec "$@" 2>fifo'],
] as const;
const withStderr = (script: string, wrapper: readonly string[]) => ({
  cwd: work.dir,
  wrapper: ['sh', '-c', script, 'sh', ...wrapper],
});

test.each(STDERRS)('watch with a stderr that is %s stops Fluentd all the same', async (_, script) => {
  writeFileSync(log('app.log'), lines(1_000));
  const { pid, exited, output } = await start(tailAll(), toStdout());
  writeFileSync(marker(), '');
  const options = ['-c', conf(), '--pid', String(pid), '--done-file', marker(), '--strict'];
  const deaf = watch([...options, '--log-level', 'debug'], withStderr(script, POSIDLE));
  expect(await within(15_000, deaf.exited)).toBe(0);
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(linesIn(output())).toBe(1_000);
});

test('run with a stderr on a full disk lets Fluentd deliver and end in order', async () => {
  writeFileSync(log('app.log'), lines(1_000));
  writeFileSync(conf(), renderConf([tailAll(), toOut(memoryBuffer({ flush_interval: '60s' }))]));
  const found = requireFluentd(NEWEST);
  const args = ['run', '--quiet', '1s', '--strict', '--', found.command, '-c', conf()];
  const env = containerEnv(found, work.dir);
  running = startPosidle(args, { env, ...withStderr(STDERRS[0][1], CONTAINER) });
  expect(await within(40_000, running.exited)).toBe(0);
  expect(running.stdout()).toMatch(/Worker 0 finished with status 0/);
  expect(delivered()).toBe(1_000);
});

test('a wrapper that starts Fluentd late is not stopped by an old pos file and done file: what waits on disk is delivered', async () => {
  writeFileSync(log('app.log'), lines(1_000));
  const before = await start(tailAll(), toOut(lateFileBuffer()));
  await until('everything is in the buffer', () =>
    chunks().some((name) => linesIn(readFileSync(join(work.buffer, name), 'utf8')) === 1_000),
  );
  await before.stop();
  expect([chunks().length, delivered()]).toEqual([1, 0]);
  writeFileSync(marker(), '');

  const { command } = requireFluentd(NEWEST);
  const entrypoint = ['sh', '-c', 'sleep 3; exec "$0" "$@"', command, '-c', conf()];
  const late = run(['-c', conf(), '--done-file', marker(), '--strict'], entrypoint);
  expect(await late.exited).toBe(0);
  expect(late.stdout()).toMatch(/Worker 0 finished with status 0/);
  expect([chunks().length, delivered()]).toEqual([0, 1_000]);
});

test.each([
  ['a shell that does not exec it', ['sh', '-c', 'sleep 1; "$0" "$@"; true']],
  ['a shell that takes SIGUSR1', ['sh', '-c', 'trap : USR1; sleep 1; "$0" "$@"; true']],
  ['a pipe', ['sh', '-c', 'sleep 1; "$0" "$@" 2>&1 | cat']],
  ['a session of its own', ['setsid', '--fork', '--wait']],
])('behind %s it is Fluentd that is flushed and stopped, and its lines are delivered', async (_, wrapper) => {
  writeFileSync(log('app.log'), lines(1_000));
  writeFileSync(conf(), renderConf([tailAll(), toOut(memoryBuffer({ flush_interval: '60s' }))]));
  writeFileSync(marker(), '');
  const command = [...wrapper, requireFluentd(NEWEST).command, '-c', conf()];
  const wrapped = run(['-c', conf(), '--done-file', marker(), '--strict'], command);
  expect(await within(30_000, wrapped.exited)).toBe(0);
  expect(wrapped.stdout()).toMatch(/Worker 0 finished with status 0/);
  expect(delivered()).toBe(1_000);
  expect(outcomeOf(wrapped)).toMatchObject({ end: 'stopped', outcome: 'drained' });
});

test('what a wrapper began in other sessions ends with its Fluentd', async () => {
  writeFileSync(log('app.log'), lines(10));
  writeFileSync(conf(), renderConf([tailAll(), toStdout()]));
  writeFileSync(marker(), '');
  const pidFile = join(work.dir, 'other.pid');
  const script = `setsid sh -c 'echo $$ >${pidFile}; exec sleep 300' & "$0" "$@"; wait`;
  const { command, env } = requireFluentd(NEWEST);
  const options = ['run', '-c', conf(), '--done-file', marker(), '--strict', '--'];
  running = startPosidle([...options, 'sh', '-c', script, command, '-c', conf()], { env });
  expect(await within(30_000, running.exited)).toBe(0);
  expect(linesIn(running.stdout())).toBe(10);
  expect(commandOf(readFileSync(pidFile, 'utf8').trim())).not.toMatch(/sleep/);
});

test('a Fluentd that is to become a daemon is refused', async () => {
  writeFileSync(conf(), renderConf([tailAll(), toStdout()]));
  const { command } = requireFluentd(NEWEST);
  const { code, stderr } = await posidle('run', '--', command, '-c', conf(), '-d', join(work.dir, 'pid'));
  expect(code).toBe(2);
  expect(stderr).toMatch(/--daemon: .*leave it out/);
});

test('a SIGTERM that comes before Fluentd is up leaves it the time to read and to deliver', async () => {
  writeFileSync(log('app.log'), lines(1_000));
  writeFileSync(conf(), renderConf([tailAll(), toStdout()]));
  const pidFile = join(work.dir, 'fluentd.pid');
  const early = watch(['-c', conf(), '--pid-file', pidFile, '--quiet', 'off', '--strict']);
  await early.logged(/^the pid file .* is not there/);
  early.kill('SIGTERM');
  await early.logged(/^SIGTERM received before Fluentd was up/);
  const { output, exited, pid } = await start(tailAll(), toStdout());
  writeFileSync(pidFile, String(pid));
  expect(await early.exited).toBe(0);
  expect(outcomeOf(early)).toMatchObject({ end: 'stopped', trigger: 'SIGTERM', outcome: 'drained' });
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(linesIn(output())).toBe(1_000);
});

test('without a witness a second pos file that never appears holds the quiet window up until the start timeout, the drain to its bound, and is named', async () => {
  writeFileSync(log('app.log'), 'line 1\n');
  const { pid } = await start(tailAll(), toStdout());
  const never = join(work.dir, 'never.pos');
  const files = ['-c', conf(), '-p', work.pos, '-p', never, '--pid', String(pid)];
  const bounds = ['--quiet', '1s', '--start-timeout', '3s', '--drain-timeout', '3s', '--strict'];
  const waiting = watch([...files, ...bounds, '--witness', 'off']);
  const writing = setInterval(() => appendFileSync(log('app.log'), 'line 2\n'), 300);
  await waiting.logged(/→ watching/).finally(() => clearInterval(writing));
  expect(await waiting.exited).toBe(3);
  expect(outcomeOf(waiting)).toMatchObject({
    end: 'stopped',
    trigger: 'quiet',
    outcome: 'unproven',
    doubts: { worst: expect.arrayContaining([expect.objectContaining({ kind: 'pos-file', about: never })]) },
  });
});

test.each([
  ['given twice', ['--done-file', '/tmp/a', '--done-file', '/tmp/b'], /--done-file: given 2 times/],
  ['empty', ['--done-file', ''], /--done-file: the value is empty/],
])('a done file that is %s is refused: it would never be there', async (_, options, why) => {
  const { code, stderr } = await posidle('watch', '-p', work.pos, ...options);
  expect(code).toBe(2);
  expect(stderr).toMatch(why);
});

const multiline = (params = {}): Section => {
  const { params: own = {}, ...rest } = tailAll(params);
  const parse = {
    name: 'parse',
    params: { '@type': 'multiline', format_firstline: '/^line/', format1: '/^(?<message>.*)/' },
  };
  return { ...rest, params: own, sections: [parse] };
};

test('the last record of a multiline source is waited for as long as multiline_flush_interval says', async () => {
  writeFileSync(log('app.log'), lines(10).replaceAll('\n', '\n  and more\n'));
  const { pid } = await start(multiline({ multiline_flush_interval: '4s' }), toOut(lateFileBuffer()));
  await until('the pos file has its entry', () => readFileSync(work.pos, 'utf8').includes('app.log'));
  appendFileSync(log('app.log'), 'line 11\n  and more\n');
  writeFileSync(marker(), '');
  const waiting = watch(['-c', conf(), '--pid', String(pid), '--done-file', marker(), '--strict']);
  expect(await waiting.exited).toBe(0);
  expect([chunks().length, delivered()]).toEqual([0, 11]);
});

/** Empty for a zombie and for none at all. */
function commandOf(pid: string): string {
  const path = `/proc/${pid}/cmdline`;
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Fails before the test's own time is over, so that what runs is cleaned up. */
async function within<T>(time: number, result: Promise<T>): Promise<T> {
  let settled: { value: T } | undefined;
  void result.then((value) => {
    settled = { value };
  });
  return (await until('the end', () => settled, { within: time })).value;
}
