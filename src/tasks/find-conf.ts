import { access, constants, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import type { FluentConf } from '../core/fluent-conf/fluent-conf.ts';
import type { RubyContext } from '../core/fluent-conf/ruby.ts';
import { type FluentdTarget, isSame } from '../core/fluentd/processes.ts';
import { FluentdFinder } from '../daemon/find-fluentd.ts';
import type { Host } from '../host.ts';
import type { BelowRoot } from '../node/files/below-root.ts';
import { loadFluentConf } from '../node/files/conf-files.ts';
import { exists, type PlaceOf } from '../node/files/files.ts';
import { inWords } from '../node/files/in-words.ts';
import { type FluentdArguments, fluentdArguments } from '../node/processes/command-line.ts';
import { environmentOf, workingDirectoryOf } from '../node/processes/proc.ts';
import { UsageError } from './usage-error.ts';

export interface FoundConf {
  readonly path: string;
  readonly conf: FluentConf;
  /** Named by the user, not just found lying there. */
  readonly isGiven: boolean;
}

export interface ConfWanted {
  readonly fluentConf: string | undefined;
  readonly posFiles?: readonly string[];
  /** Which Fluentd is meant; by default the one that runs. */
  readonly fluentd?: FluentdTarget;
  /** Where another's file system begins, whose configuration is meant. */
  readonly below?: BelowRoot | undefined;
  /** What will start Fluentd, in posidle's own environment. */
  readonly command?: readonly string[] | undefined;
  /** The configuration is that of the Fluentd that posidle is to stop: what its command line says counts. */
  readonly isOfFluentd?: boolean;
}

/** Where the official images and packages have it (fluentd-docker-image's entrypoint; lib/fluent/env.rb). */
function usualPlaces(env: NodeJS.ProcessEnv): readonly string[] {
  return [
    `/fluentd/etc/${env.FLUENTD_CONF || 'fluent.conf'}`,
    '/etc/fluent/fluent.conf',
    '/etc/fluent/fluentd.conf',
  ];
}

/** Fluentd's configuration: the first that is named, or is there; evaluated as far as posidle can. */
export async function findConf(
  host: Host,
  wanted: ConfWanted,
  env: NodeJS.ProcessEnv,
): Promise<FoundConf | undefined> {
  const { below } = wanted;
  const fluentd =
    wanted.command === undefined ? await running(host, wanted, env) : starting(wanted.command, env);
  const placeOf = (name: string) => below?.resolve(name) ?? name;
  const { ruby, given } = fluentd;
  for (const { path, by } of candidatesOf(wanted, fluentd, env)) {
    if (by === undefined && !(await exists(path, placeOf))) continue;
    if (by !== undefined) await refuseUnreadable(path, by, placeOf);
    const options = { ruby, given, includeDir: '/etc/fluent/conf.d', placeOf };
    return { path, conf: await loadFluentConf(path, options), isGiven: by !== undefined };
  }
  return undefined;
}

/** What is known of Fluentd before its configuration is read. */
interface Started {
  readonly given: FluentdArguments;
  readonly ruby: RubyContext;
  /** The configuration that it names itself, as a path for us. */
  readonly configFile: string | undefined;
  /** It is posidle that starts it. */
  readonly isOurs: boolean;
}

function starting(command: readonly string[], env: NodeJS.ProcessEnv): Started {
  const given = fluentdArguments(command);
  const ruby = { env, hostname: hostname() };
  return { given, ruby, configFile: given.configFile || undefined, isOurs: true };
}

/**
 * The one fluentd that runs: its ENV['X'] are its own, and its arguments count for its own configuration. Those of another user count for
 * nothing: anybody can call a process fluentd.
 */
async function running(host: Host, wanted: ConfWanted, env: NodeJS.ProcessEnv): Promise<Started> {
  const { isOfFluentd = false, posFiles = [], fluentd: target = { by: 'search' } } = wanted;
  const finder = new FluentdFinder(host, { fluentd: target, posFiles });
  const found = await finder.find(undefined);
  const fluentd =
    found.kind === 'running'
      ? (await host.listProcesses()).find((row) => isSame(row, found.supervisor))
      : undefined;
  const own = fluentd && environmentOf(fluentd.pid);
  const ruby = { env: own ?? env, hostname: hostname(), foreign: own === undefined };
  const command = isOfFluentd && own !== undefined ? (fluentd?.argv ?? []) : [];
  const given = fluentdArguments(command);
  const path = given.configFile && fluentd && pathIn(fluentd.pid, given.configFile);
  return { given, ruby, configFile: path || undefined, isOurs: false };
}

function pathIn(pid: number, path: string): string | undefined {
  if (isAbsolute(path)) return path;
  const directory = workingDirectoryOf(pid);
  return directory === undefined ? undefined : resolve(directory, path);
}

/** `by`: how the user named it; undefined: it may just lie there. */
interface Candidate {
  readonly path: string;
  readonly by: string | undefined;
}

function candidatesOf(
  { fluentConf, below }: ConfWanted,
  { configFile, isOurs }: Started,
  env: NodeJS.ProcessEnv,
): readonly Candidate[] {
  // Below another root it is a guess. Empty is as good as not set.
  const byEnvironment = below === undefined ? 'FLUENT_CONF' : undefined;
  const all = [
    { path: fluentConf, by: '`fluentConf`' },
    // Another container's path may lead nowhere here.
    { path: configFile, by: isOurs ? "fluentd's own -c" : undefined },
    { path: env.FLUENT_CONF || undefined, by: byEnvironment },
    ...usualPlaces(env).map((path) => ({ path, by: undefined })),
  ];
  return all.flatMap(({ path, by }) => (path === undefined ? [] : [{ path, by }]));
}

async function refuseUnreadable(path: string, by: string, placeOf: PlaceOf): Promise<void> {
  const why = await whyUnreadable(placeOf(path));
  if (why === undefined) return;
  throw new UsageError(
    `${by}: ${path}: ${why}; name fluentd's configuration, or the pos file with \`posFiles\``,
  );
}

async function whyUnreadable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isDirectory() ? 'it is a directory' : undefined;
  } catch (error) {
    return inWords(error as NodeJS.ErrnoException);
  }
}
