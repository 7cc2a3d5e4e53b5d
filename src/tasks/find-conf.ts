import { access, constants, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { problemText } from '../core/fluent-conf/element.ts';
import { type ConfFacts, confFacts } from '../core/fluent-conf/facts.ts';
import type { FluentConf } from '../core/fluent-conf/fluent-conf.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import { isSame } from '../core/fluentd/processes.ts';
import { FluentdFinder } from '../daemon/find-fluentd.ts';
import type { Host } from '../host.ts';
import { placesBelow } from '../node/files/below-root.ts';
import { loadFluentConf } from '../node/files/conf-files.ts';
import { exists } from '../node/files/files.ts';
import { nameUnder } from '../node/files/glob.ts';
import { inWords } from '../node/files/in-words.ts';
import { fluentdArguments } from '../node/processes/command-line.ts';
import { environmentOf, workingDirectoryOf } from '../node/processes/proc.ts';
import { UsageError } from './usage-error.ts';

export interface ConfWanted {
  /** If undefined, posidle looks for Fluentd's own. */
  readonly fluentConf: string | undefined;
  /** Pos files or globs. If empty: those of the configuration. */
  readonly posFiles?: readonly string[];
  /** The root directory of another file system that has the configuration. */
  readonly root?: string | undefined;
  /** The command that will start Fluentd, in posidle's environment. */
  readonly command?: readonly string[] | undefined;
  /** The configuration belongs to the Fluentd that posidle stops, so its command line counts, too. */
  readonly isOfFluentd?: boolean;
  /** Fluentd has a witness, so posidle can do without pos files. */
  readonly hasWitness?: boolean;
}

export interface FoundPosFiles {
  readonly posFiles: readonly string[];
  readonly conf: ConfFacts | undefined;
  /** Warnings about the configuration, one sentence each. */
  readonly warnings: readonly string[];
  readonly confPath: string | undefined;
  /** The shared directory of the witness, if there is one. */
  readonly witness?: string | undefined;
}

/** Finds the pos files and the configuration. Without a witness it throws a UsageError if there are none. */
export async function findPosFiles(host: Host, wanted: ConfWanted): Promise<FoundPosFiles> {
  const { posFiles = [] } = wanted;
  refusePosFiles(posFiles);
  const found = await findConf(host, wanted, process.env);
  if (posFiles.length === 0) return fromConf(found, wanted.hasWitness);
  return found === undefined ? { posFiles, ...NO_CONF } : besidePosFiles(posFiles, found);
}

const BY_WITNESS = 'posidle asks the witness in Fluentd instead';
/** Linux has no longer paths (limits.h). */
const PATH_MAX = 4_096;

export function refusePosFiles(posFiles: readonly string[]): void {
  if (posFiles.includes('')) throw new UsageError('--pos-file: the value is empty. Is a variable not set?');
  const long = posFiles.find(({ length }) => length > PATH_MAX);
  if (long !== undefined)
    throw new UsageError(
      `--pos-file: ${long.slice(0, 40)}…: it has ${long.length} characters, and a path has at most ${PATH_MAX}`,
    );
}

const NO_CONF = { conf: undefined, warnings: [], confPath: undefined };

function fromConf(found: LoadedConf | undefined, hasWitness = false): FoundPosFiles {
  if (found === undefined) {
    if (hasWitness) return { posFiles: [], ...NO_CONF };
    throw new UsageError(
      "--pos-file: none given, and no fluent.conf found; name in_tail's pos_file, or give --fluent-conf",
    );
  }
  const { path, conf } = found;
  const posFiles = [...new Set(conf.sources.flatMap(({ posFile }) => posFile ?? []))];
  const problems = conf.problems.map(problemText);
  if (posFiles.length === 0) {
    const why = problems.length > 0 ? problems.join('; ') : 'no in_tail source in it has a pos_file';
    if (hasWitness) return { posFiles, ...NO_CONF, warnings: [`${path}: ${why}. ${BY_WITNESS}`] };
    throw new UsageError(`--fluent-conf: ${path}: ${why}; name the pos file with --pos-file`);
  }
  return { posFiles, conf: confFacts(conf), warnings: [...problems, ...conf.warnings], confPath: path };
}

/** If the user names pos files, a configuration that posidle only found counts only if it has these pos files. */
async function besidePosFiles(posFiles: readonly string[], found: LoadedConf): Promise<FoundPosFiles> {
  const { path, conf, isGiven } = found;
  const matched = await Promise.all(conf.sources.map((source) => underItsName(source, posFiles)));
  const sources = matched.filter((source) => source !== undefined);
  if (sources.length === 0 && !isGiven) return { posFiles, ...NO_CONF };
  const blind = `no in_tail source of ${path} has the pos file ${posFiles.join(', ')}. posidle cannot see its new files`;
  const warnings = [
    ...conf.problems.map(problemText),
    ...conf.warnings,
    ...(sources.length === 0 ? [blind] : []),
  ];
  // Nothing is hidden, because the user names all pos files.
  return { posFiles, conf: { ...confFacts(conf), sources, hidden: [] }, warnings, confPath: path };
}

/** The source with the user's name of its pos file. If its own name is unknown, the only named pos file must be it. */
async function underItsName(source: TailSource, named: readonly string[]): Promise<TailSource | undefined> {
  const [only = ''] = named;
  if (source.posFile === undefined) return named.length === 1 ? { ...source, posFile: only } : undefined;
  for (const pattern of named) {
    const posFile = await nameUnder(pattern, source.posFile);
    if (posFile !== undefined) return { ...source, posFile };
  }
  return undefined;
}

interface LoadedConf {
  readonly path: string;
  readonly conf: FluentConf;
  /** The user or Fluentd's command names it. Otherwise posidle only found it. */
  readonly isGiven: boolean;
}

/** Loads Fluentd's configuration: the first candidate that is named or exists. */
export async function findConf(
  host: Host,
  wanted: ConfWanted,
  env: NodeJS.ProcessEnv,
): Promise<LoadedConf | undefined> {
  const { fluentConf, root, command } = wanted;
  const { own, given } =
    command === undefined ? await running(host, wanted) : { given: fluentdArguments(command), own: env };
  const ruby = { env: own ?? env, hostname: hostname(), foreign: own === undefined };
  const placeOf = placesBelow(root);
  const candidates = [
    { path: fluentConf, by: '--fluent-conf' },
    // Without `command` the path may be another container's, so it must exist.
    { path: given.configFile, by: command && "fluentd's own -c" },
    // Below another root our own variable is a guess, so the file must exist.
    { path: env.FLUENT_CONF, by: root === undefined ? 'FLUENT_CONF' : undefined },
    // The defaults of the official images and packages (fluentd-docker-image's entrypoint; lib/fluent/env.rb).
    { path: `/fluentd/etc/${env.FLUENTD_CONF || 'fluent.conf'}`, by: undefined },
    { path: '/etc/fluent/fluent.conf', by: undefined },
    { path: '/etc/fluent/fluentd.conf', by: undefined },
  ];
  for (const { path, by } of candidates) {
    // An empty path means that it is not set.
    if (!path || (by === undefined && !(await exists(path, placeOf)))) continue;
    if (by !== undefined) await refuseUnreadable(path, by, placeOf(path));
    const options = { ruby, given, includeDir: '/etc/fluent/conf.d', placeOf };
    return { path, conf: await loadFluentConf(path, options), isGiven: by !== undefined };
  }
  return undefined;
}

/**
 * The environment and arguments of the running Fluentd. The arguments count only for its own configuration. Both are ignored if it runs as
 * another user, because anybody can call a process fluentd.
 */
async function running(host: Host, wanted: ConfWanted) {
  const { isOfFluentd = false, posFiles = [] } = wanted;
  const found = await new FluentdFinder(host, { fluentd: { by: 'search' }, posFiles }).find(undefined);
  const fluentd =
    found.kind === 'running'
      ? (await host.listProcesses().catch(() => [])).find((row) => isSame(row, found.supervisor))
      : undefined;
  const own = fluentd && environmentOf(fluentd.pid);
  const { configFile, ...given } = fluentdArguments(isOfFluentd && own && fluentd ? fluentd.argv : []);
  return { own, given: { ...given, configFile: configFile && fluentd && pathIn(fluentd.pid, configFile) } };
}

function pathIn(pid: number, path: string): string | undefined {
  const directory = isAbsolute(path) ? '/' : workingDirectoryOf(pid);
  return directory && resolve(directory, path);
}

async function refuseUnreadable(path: string, by: string, place: string): Promise<void> {
  const why = await access(place, constants.R_OK)
    .then(async () => ((await stat(place)).isDirectory() ? 'it is a directory' : undefined))
    .catch(inWords);
  if (why !== undefined)
    throw new UsageError(
      `${by}: ${path}: ${why}; name fluentd's configuration, or the pos file with --pos-file`,
    );
}
