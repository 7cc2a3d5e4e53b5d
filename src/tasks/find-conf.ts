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
import { exists } from '../node/files/files.ts';
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
  /** Puts the names that users know into a text that names options by their keys: `posFiles`. */
  readonly nameOptions?: ((text: string) => string) | undefined;
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

/** Fluentd's configuration, where one is given or found; evaluated as far as posidle can. */
export async function findConf(
  host: Host,
  wanted: ConfWanted,
  env: NodeJS.ProcessEnv,
): Promise<FoundConf | undefined> {
  const { below, nameOptions = (text) => text } = wanted;
  const fluentd =
    wanted.command === undefined ? await running(host, wanted, env) : starting(wanted.command, env);
  const found = await confPath(wanted, fluentd, env);
  if (found === undefined) return undefined;
  await refuseUnreadable(found);
  const { ruby, given } = fluentd;
  const conf = await loadFluentConf(found.path, {
    ruby,
    given,
    includeDir: '/etc/fluent/conf.d',
    placeOf: below && ((name) => (name === found.path ? found.place : below.resolve(name))),
  });
  const problems = conf.problems.map((problem) => ({ ...problem, text: nameOptions(problem.text) }));
  return { path: found.path, conf: { ...conf, problems }, isGiven: found.by !== undefined };
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

interface Located extends Named {
  /** Where it lies for us. */
  readonly place: string;
}

interface Named {
  readonly path: string;
  /** How the user named it; undefined: it just lies there. */
  readonly by?: string | undefined;
}

/** Below a root another's files come first, and only the one that the option names may be ours. */
async function confPath(
  wanted: ConfWanted,
  fluentd: Started,
  env: NodeJS.ProcessEnv,
): Promise<Located | undefined> {
  const { fluentConf, below } = wanted;
  const named = await confNamed(wanted, fluentd, env);
  if (below === undefined && named !== undefined) return { ...named, place: named.path };
  const names = named === undefined ? usualPlaces(env) : [named.path];
  const placeOf = (name: string) => below?.resolve(name) ?? name;
  for (const path of names)
    if (await exists(path, placeOf)) return { path, place: placeOf(path), by: named?.by };
  return fluentConf === undefined ? undefined : { path: fluentConf, place: fluentConf, by: named?.by };
}

async function confNamed(
  { fluentConf }: ConfWanted,
  { configFile, isOurs }: Started,
  env: NodeJS.ProcessEnv,
): Promise<Named | undefined> {
  if (fluentConf !== undefined) return { path: fluentConf, by: '`fluentConf`' };
  if (configFile !== undefined && isOurs) return { path: configFile, by: "fluentd's own -c" };
  // Another container's path may lead nowhere here.
  if (configFile !== undefined && (await exists(configFile))) return { path: configFile };
  // Empty is as good as not set.
  return env.FLUENT_CONF ? { path: env.FLUENT_CONF, by: 'FLUENT_CONF' } : undefined;
}

async function refuseUnreadable({ path, place, by }: Located): Promise<void> {
  const why = by === undefined ? undefined : await whyUnreadable(place);
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
