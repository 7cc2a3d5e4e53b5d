import { access, constants, realpath, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { FluentConf } from '../core/fluent-conf/fluent-conf.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import { isSame } from '../core/fluentd/processes.ts';
import { hasWildcard, nameMatcher, patternOfArgument } from '../core/in-tail/path-glob.ts';
import { FluentdFinder } from '../daemon/find-fluentd.ts';
import type { Host } from '../host.ts';
import { placesBelow } from '../node/files/below-root.ts';
import { loadFluentConf } from '../node/files/conf-files.ts';
import { exists, type PlaceOf } from '../node/files/files.ts';
import { inWords } from '../node/files/in-words.ts';
import { fluentdArguments } from '../node/processes/command-line.ts';
import { environmentOf, workingDirectoryOf } from '../node/processes/proc.ts';
import { UsageError } from './usage-error.ts';

export interface ConfWanted {
  /** If undefined, posidle looks for Fluentd's own. */
  readonly fluentConf?: string | undefined;
  /** Pos files or globs. If empty: those of the configuration. */
  readonly posFiles?: readonly string[] | undefined;
  /** The root directory of another file system that has the configuration. */
  readonly root?: string | undefined;
  /** The command that will start Fluentd, in posidle's environment. */
  readonly command?: readonly string[] | undefined;
  /** The configuration belongs to the Fluentd that posidle stops, so its command line counts, too. */
  readonly isOfFluentd?: boolean;
  /** Fluentd has a witness, so posidle can do without a configuration. */
  readonly hasWitness?: boolean;
}

export interface FoundPosFiles {
  /** Empty: posidle asks the witness, or the configuration has no in_tail source. */
  readonly posFiles: readonly string[];
  readonly conf: FluentConf | undefined;
  /** Warnings about the configuration, a line each. */
  readonly warnings: readonly string[];
  readonly confPath?: string;
  /** The directory of the witness, if there is one. */
  readonly witness?: string | undefined;
}

export const NOTHING_FOUND: FoundPosFiles = { posFiles: [], conf: undefined, warnings: [] };

const BY_WITNESS = 'give Fluentd a witness (`posidle witness` shows how)';
/** Linux has no longer paths (limits.h). */
const PATH_MAX = 4_096;

/** Finds the pos files and the configuration. Without a witness it throws a UsageError if they are unknown. */
export async function findPosFiles(host: Host, wanted: ConfWanted): Promise<FoundPosFiles> {
  const { posFiles = [], hasWitness = false } = wanted;
  refusePosFiles(posFiles);
  const found = await findConf(host, wanted, process.env);
  const none = { ...NOTHING_FOUND, posFiles };
  if (found === undefined) {
    if (posFiles.length > 0 || hasWitness) return none;
    throw new UsageError(
      'no pos file is named, and no fluent.conf found: name one with -p FILE, or -c fluent.conf',
    );
  }
  const { path, conf, isGiven } = found;
  const warnings = [...conf.problems, ...conf.warnings];
  if (posFiles.length === 0) {
    const own = [...new Set(conf.sources.flatMap(({ posFile }) => posFile ?? []))];
    if (own.length === 0 && hasWitness) return { ...none, warnings: conf.warnings };
    if (own.length === 0) refuseUnknown(path, conf);
    if (own.length === 0) warnings.push(`${path} has no in_tail source`);
    if (conf.hidden.length > 0 && !hasWitness)
      warnings.push(`${path} may have more pos files: name all with --pos-file, or ${BY_WITNESS}`);
    return { posFiles: own, conf, warnings, confPath: path };
  }
  const sources = await namedBy(posFiles, conf.sources);
  // Only a configuration that the user or Fluentd names counts without these pos files.
  if (sources.length === 0 && !isGiven) return none;
  if (sources.length === 0)
    warnings.push(
      `no in_tail source of ${path} has the pos file ${posFiles.join(', ')}. posidle cannot see its new files`,
    );
  // Nothing is hidden, because the user names all pos files.
  return { posFiles, conf: { ...conf, sources, hidden: [] }, warnings, confPath: path };
}

function refusePosFiles(posFiles: readonly string[]): void {
  if (posFiles.includes('')) throw new UsageError('--pos-file: the value is empty. Is a variable not set?');
  const long = posFiles.find(({ length }) => length > PATH_MAX);
  if (long !== undefined)
    throw new UsageError(
      `--pos-file: ${long.slice(0, 40)}…: it has ${long.length} characters, and a path has at most ${PATH_MAX}`,
    );
}

/** Throws a UsageError unless the configuration certainly has no in_tail source. */
function refuseUnknown(path: string, { sources, problems, hidden }: FluentConf): void {
  const unknown = `its pos files are unknown; name them with --pos-file, or ${BY_WITNESS}`;
  if (hidden.length > 0) throw new UsageError([`--fluent-conf: ${path}: ${unknown}`, ...problems].join('\n'));
  if (sources.length > 0)
    throw new UsageError(
      `--fluent-conf: ${path}: no in_tail source has a pos_file; set it, or ${BY_WITNESS}`,
    );
}

/** The sources with the user's names of their pos files. If a source's own is unknown, the only named one must be it, unless it is a glob. */
async function namedBy(named: readonly string[], sources: readonly TailSource[]): Promise<TailSource[]> {
  const found: TailSource[] = [];
  for (const source of sources) {
    const { posFile: own } = source;
    const names = own === undefined ? named : await Promise.all(named.map((name) => nameUnder(name, own)));
    const posFile = names.find((name) => name !== undefined);
    const isUnsure = own === undefined && (named.length > 1 || named.some(hasWildcard));
    if (posFile !== undefined && !isUnsure) found.push({ ...source, posFile });
  }
  return found;
}

/**
 * The user's name for `path` if `pattern` means it: the same place written differently (relative, through a symlink), or a match of the glob.
 * Undefined if not. The files need not exist.
 */
async function nameUnder(pattern: string, path: string): Promise<string | undefined> {
  const [wanted, own] = await Promise.all([canonical(pattern), canonical(path)]);
  if (wanted === own) return pattern;
  const parts = patternOfArgument(wanted).split('/');
  const names = own.split('/');
  const fits = parts.length === names.length && parts.every((part, at) => nameMatcher(part)(names[at] ?? ''));
  if (!hasWildcard(pattern) || !fits) return undefined;
  return hasWildcard(dirname(pattern)) ? path : join(dirname(pattern), basename(path));
}

/** Resolves symlinks of the directory, if it exists. Keeps the name. */
async function canonical(path: string): Promise<string> {
  const whole = resolve(path);
  const directory = await realpath(dirname(whole)).catch(() => dirname(whole));
  return join(directory, basename(whole));
}

/**
 * Loads Fluentd's configuration: the first candidate that is named or exists. `isGiven`: the user or Fluentd's command names it. Otherwise
 * posidle only found it.
 */
export async function findConf(host: Host, wanted: ConfWanted, env: NodeJS.ProcessEnv) {
  const { fluentConf, root, command, hasWitness = false } = wanted;
  const { own, given } =
    command === undefined ? await running(host, wanted) : { given: fluentdArguments(command), own: env };
  const ruby = { env: own ?? env, hostname: hostname(), foreign: own === undefined };
  // Anew for each file: messages show parts of these, so no old answer may lead out of the root.
  const placeOf = (path: string) => placesBelow(root)(path);
  // One that is named must be readable, any other counts if it exists.
  const candidates = [
    { path: fluentConf, namedBy: '--fluent-conf' },
    // The path of a running Fluentd may be another container's.
    { path: given.config, namedBy: command && "fluentd's own -c" },
    // Below another root our own variable is a guess.
    { path: env.FLUENT_CONF, namedBy: root === undefined ? 'FLUENT_CONF' : undefined },
    // The defaults of the official images and packages (fluentd-docker-image's entrypoint; lib/fluent/env.rb).
    { path: `/fluentd/etc/${env.FLUENTD_CONF || 'fluent.conf'}` },
    { path: '/etc/fluent/fluent.conf' },
    { path: '/etc/fluent/fluentd.conf' },
  ];
  for (const { path, namedBy } of candidates) {
    // An empty path means that it is not set.
    if (!path || (namedBy === undefined && !(await exists(path, placeOf)))) continue;
    const why = namedBy && (await whyUnreadable(path, placeOf));
    if (why !== undefined && hasWitness && namedBy !== '--fluent-conf') return undefined;
    if (why !== undefined)
      throw new UsageError(
        `${namedBy}: ${path}: ${why}; name fluentd's configuration, or the pos file with --pos-file`,
      );
    const options = { ruby, given, includeDir: '/etc/fluent/conf.d', placeOf };
    return { path, conf: await loadFluentConf(path, options), isGiven: namedBy !== undefined };
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
  const { config, ...given } = fluentdArguments(isOfFluentd && own && fluentd ? fluentd.argv : []);
  return { own, given: { ...given, config: config && fluentd && pathIn(fluentd.pid, config) } };
}

function pathIn(pid: number, path: string): string | undefined {
  const directory = isAbsolute(path) ? '/' : workingDirectoryOf(pid);
  return directory && resolve(directory, path);
}

async function whyUnreadable(path: string, placeOf: PlaceOf): Promise<string | undefined> {
  try {
    const place = placeOf(path);
    await access(place, constants.R_OK);
    return (await stat(place)).isDirectory() ? 'it is a directory' : undefined;
  } catch (error) {
    return inWords(error as NodeJS.ErrnoException);
  }
}
