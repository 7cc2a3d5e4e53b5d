import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { until } from './until.ts';

/** The root of the checkout, where tests and scripts run. */
export const CLI = resolve('dist/cli.js');
export const POSIDLE = [process.execPath, CLI];
/** The command in a PID namespace of its own: it sees no Fluentd of this machine. */
export const ALONE = ['unshare', '-Urpf', '--kill-child', '--mount-proc', ...POSIDLE];
/** Before a command that only root may start: it is the first process of a container, and sees the processes there. */
export const CONTAINER = ['unshare', '--fork', '--pid', '--mount-proc', '--kill-child'];

/** One line of posidle's JSON log. */
export interface LogLine {
  level: string;
  /** Wall clock, milliseconds; ISO 8601 in the log. */
  time: number;
  msg: string;
  to?: string;
  [fact: string]: unknown;
}

export interface PosidleRun {
  pid: number;
  stdout(): string;
  /** Everything on stderr, as it came. */
  stderr(): string;
  log(): LogLine[];
  logged(what: RegExp, within?: number): Promise<LogLine>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code. */
  exited: Promise<number | null>;
}

export interface PosidleOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Words that stand before the arguments, in place of `node dist/cli.js`. */
  wrapper?: readonly string[];
}

/** Starts the built CLI. */
export function startPosidle(args: readonly string[], options: PosidleOptions = {}): PosidleRun {
  if (!existsSync(CLI)) throw new Error('dist/cli.js is not built: npm run build');
  const { wrapper = POSIDLE, ...rest } = options;
  const [command = '', ...words] = wrapper;
  const child = spawn(command, [...words, ...args], { stdio: ['ignore', 'pipe', 'pipe'], ...rest });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  }
  let ended = false;
  const exited = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      ended = true;
      resolve(code);
    }),
  );
  const log = () => text.stderr.split('\n').flatMap(parseLine);
  const logged = async (what: RegExp, within = 30_000) => {
    const find = () => log().find(({ msg }) => what.test(msg));
    await until(`posidle logs ${what}`, () => find() ?? ended, { within }).catch(() => {});
    const found = find();
    if (found !== undefined) return found;
    const when = ended ? 'before it ended' : `within ${within} ms`;
    throw new Error(`posidle did not log ${what} ${when}:\n${text.stderr.slice(-5000)}`);
  };
  return {
    pid: child.pid ?? -1,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    log,
    logged,
    kill: (signal) => child.kill(signal),
    exited,
  };
}

/** Runs the built CLI to its end. */
export async function posidle(
  ...args: readonly string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const run = startPosidle(args);
  const code = await run.exited;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

/** Runs a shell line in a directory; `posidle` in it is the built CLI. */
export function shellIn(dir: string, line: string, input?: string) {
  const script = `posidle() { "${process.execPath}" "${CLI}" "$@"; }\ncd "${dir}"\n${line}`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script], { encoding: 'utf8', input });
  return { stdout, stderr, status };
}

/** The words before `posidle` in a shell line that make Node run this text first. */
export function loading(text: string): string {
  return `NODE_OPTIONS='--import data:text/javascript,${encodeURIComponent(text).replaceAll("'", '%27')}'`;
}

/** The same words: each synchronous stat takes 10 ms. */
export const SLOW_STATS = loading(`import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { statSync } = fs;
  fs.statSync = (...args) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    return statSync(...args);
  };
  syncBuiltinESMExports();`);

/** A log file, and the entry of it. */
export function loggedIn(dir: string, name: string, text: string, position: number | null) {
  const path = join(dir, name);
  writeFileSync(path, text);
  return { path, position, inode: statSync(path).ino };
}

function parseLine(line: string): LogLine[] {
  if (!line.startsWith('{')) return [];
  const parsed = JSON.parse(line) as LogLine & { time: string };
  return [{ ...parsed, time: Date.parse(parsed.time) }];
}
