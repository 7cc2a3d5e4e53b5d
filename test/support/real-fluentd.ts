import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ProcessGroup, startGroup } from './process-group.ts';
import { until } from './until.ts';

export interface Fluentd {
  version: string;
  command: string;
  /** The Ruby that it runs on. */
  ruby: string;
  env: NodeJS.ProcessEnv;
}

export interface FluentdRun extends ProcessGroup {
  /** Fluentd's output so far, stdout and stderr together. */
  output(): string;
  /** The worker runs: from here on a signal stops it in an orderly way. */
  ready: Promise<void>;
  /** SIGINT to the supervisor, and SIGKILL to the group after `within` ms. */
  stop(within?: number): Promise<void>;
}

export interface StartOptions {
  version: string;
  dir: string;
  conf: string;
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Words before Fluentd's own command. */
  wrapper?: readonly string[];
  /** false: nobody looks inside. */
  witness?: boolean;
}

/** The version for tests that are only about posidle. */
export const NEWEST = '1.20.1';
const VERSIONS = ['1.14.6', '1.18.0', '1.19.4', NEWEST];
const { FLUENTD_VERSIONS = 'all' } = process.env;
const isTested = (one: string) => FLUENTD_VERSIONS === 'all' || FLUENTD_VERSIONS.split(',').includes(one);
/** The versions for tests that depend on the version. FLUENTD_VERSIONS=1.14.6,1.20.1 omits one. */
export const TESTED_VERSIONS: readonly string[] = VERSIONS.filter(isTested);
/** The version for tests whose subject other tests show on each version. */
export const OLDEST_AND_NEWEST: readonly string[] = TESTED_VERSIONS.filter(
  (_, index, { length }) => index === 0 || index === length - 1,
);
export const READY_LINE = 'fluentd worker is now running';

/** The tested versions in the cache that .ci/install-fluentd fills. */
export function fluentdVersions(): Fluentd[] {
  return VERSIONS.flatMap(cached);
}

function cached(version: string): Fluentd[] {
  const dir = join(cacheDir(), `fluentd-${version}`);
  const command = join(dir, 'bin', 'fluentd');
  if (!existsSync(command)) return [];
  const ownRuby = join(dir, 'bin', 'ruby');
  const ruby = existsSync(ownRuby) ? ownRuby : 'ruby';
  return [{ version, command, ruby, env: { ...unproxied(), GEM_HOME: dir, GEM_PATH: dir } }];
}

/** out_http would send even to loopback through the proxy that HTTP_PROXY names. */
function unproxied(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^https?_proxy$/i.test(name)));
}

/** Where .ci/install-fluentd puts what Fluentd's own tests need. */
export const testGems = () => join(cacheDir(), 'fluentd-test-gems');

function cacheDir(): string {
  const { POSIDLE_FLUENTD_CACHE, XDG_CACHE_HOME } = process.env;
  return POSIDLE_FLUENTD_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'posidle');
}

/** Why tests on this version cannot run here, or undefined; under CI=true the lack is a failure. */
export function missingFluentd(version: string): string | undefined {
  if (cached(version).length > 0) return undefined;
  const reason = `fluentd ${version} is not installed: run .ci/install-fluentd`;
  if (process.env.CI === 'true') throw new Error(reason);
  return reason;
}

/** `context` is the one that vitest hands to a test: where the version is missing the test is skipped. */
export function requireFluentd(version: string, context?: { skip(note: string): void }): Fluentd {
  const reason = missingFluentd(version);
  if (reason !== undefined) context?.skip(reason);
  const [found] = cached(version);
  if (found === undefined) throw new Error(reason);
  return found;
}

/**
 * For a Fluentd in a PID namespace of its own. A supervisor's socket is /tmp/SERVERENGINE_SOCKETMANAGER_<second>_<pid> (serverengine 2.4.0,
 * socket_manager.rb:86), and the pid is the same in every container: the later one of two in one second fails with EADDRINUSE.
 */
export function containerEnv({ env }: Fluentd, dir: string): NodeJS.ProcessEnv {
  return { ...env, SERVERENGINE_SOCKETMANAGER_SOCK_DIR: dir };
}

/** `conf` is the text of the configuration; it is written to fluent.conf in `dir`. */
export function startFluentd({
  version,
  dir,
  conf,
  args = [],
  env = {},
  wrapper = [],
  witness = true,
}: StartOptions): FluentdRun {
  const fluentd = requireFluentd(version);
  const confPath = join(dir, 'fluent.conf');
  const log = join(dir, 'fluentd.log');
  writeFileSync(confPath, conf);
  const command = [...wrapper, fluentd.command, '-c', confPath, ...args];
  // A second start in the same directory goes on in the same log.
  const from = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  const group = startGroup(command, {
    log,
    env: { ...fluentd.env, ...(witness && loadWitness(dir)), ...env },
    cwd: dir,
  });
  const output = () => readFileSync(log).subarray(from).toString();
  const ready = workerRuns(group.exited, output);
  ready.catch(() => undefined);
  return { ...group, output, ready, stop: (within) => stopGroup(group, within) };
}

/** The directory of the witness of a Fluentd that was started in this directory. */
export const witnessIn = (dir: string) => join(dir, 'witness');

/** Not by the URL of a module: what `run-ts.mjs` bundles lies elsewhere. */
const WITNESS = 'src/core/witness';

/** Lays out the witness; gives the environment that loads it. */
function loadWitness(dir: string): NodeJS.ProcessEnv {
  const own = witnessIn(dir);
  mkdirSync(join(own, 'ruby'), { recursive: true });
  for (const name of readdirSync(WITNESS).filter((file) => file.endsWith('.rb')))
    cpSync(join(WITNESS, name), join(own, name === 'enumerator.rb' ? 'ruby' : '', name));
  return { RUBYOPT: `-I${own}/ruby -renumerator`, POSIDLE_DIR: own };
}

/** Resolves once Fluentd's worker runs. Rejects with what Fluentd has said, if it ends first or takes too long. */
export async function workerRuns(exited: Promise<unknown>, output: () => string): Promise<void> {
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  const running = () => output().includes(READY_LINE);
  await until(`"${READY_LINE}"`, () => running() || ended, { within: 60_000 }).catch(() => undefined);
  if (!running()) throw new Error(`fluentd's worker does not run:\n${output().slice(-2000)}`);
}

async function stopGroup(group: ProcessGroup, within = 30_000): Promise<void> {
  const { exitCode, signalCode } = group.process;
  if (exitCode === null && signalCode === null) group.process.kill('SIGINT');
  const timer = setTimeout(() => group.kill(), within);
  await group.exited;
  clearTimeout(timer);
  group.kill();
}
