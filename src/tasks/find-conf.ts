import { access, constants, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { type FluentConf, fluentConfFromDump } from '../core/fluent-conf/fluent-conf.ts';
import type { RubyContext } from '../core/fluent-conf/ruby.ts';
import { findSupervisors } from '../core/fluentd/processes.ts';
import type { Host } from '../host.ts';
import type { BelowRoot } from '../node/files/below-root.ts';
import { loadFluentConf } from '../node/files/conf-files.ts';
import { exists } from '../node/files/files.ts';
import { inWords } from '../node/files/in-words.ts';
import { dryRun } from '../node/processes/dry-run.ts';
import { environmentOf } from '../node/processes/proc.ts';
import { UsageError } from './usage-error.ts';

export interface FoundConf {
  readonly path: string;
  readonly conf: FluentConf;
  /** Named by the user, not just found lying there. */
  readonly isGiven: boolean;
}

export interface ConfWanted {
  readonly fluentConf: string | undefined;
  /** Where another's file system begins, whose configuration is meant. */
  readonly below?: BelowRoot | undefined;
  /** Fluentd will run in posidle's own environment. */
  readonly ownEnvironment?: boolean;
  /** Puts the names that users know into a text that names options by their keys: `posFiles`. */
  readonly nameOptions?: ((text: string) => string) | undefined;
}

/** Where the official images and packages have it (fluentd-docker-image's entrypoint; lib/fluent/env.rb). */
function usualPlaces(env: NodeJS.ProcessEnv): readonly string[] {
  return [
    `/fluentd/etc/${env.FLUENTD_CONF || 'fluent.conf'}`,
    '/etc/fluent/fluent.conf',
    '/etc/fluent/fluentd.conf',
  ];
}

/** Fluentd's configuration, where one is given or found; evaluated as far as that can be done. */
export async function findConf(
  host: Host,
  wanted: ConfWanted,
  env: NodeJS.ProcessEnv,
): Promise<FoundConf | undefined> {
  const { ownEnvironment = false, below, nameOptions = (text) => text } = wanted;
  const given = confNamed(wanted, env);
  const path = await confPath(wanted, env);
  if (path === undefined) return undefined;
  if (given !== undefined) await refuseUnreadable(path, wanted);
  const ruby = ownEnvironment ? { env, hostname: hostname() } : await rubyContext(host, env);
  const own = await loadFluentConf(path, {
    ruby,
    includeDir: '/etc/fluent/conf.d',
    placeOf: below && ((name) => below.resolve(name)),
  });
  // What lies below a root is another's: its Ruby is not run here, and its endpoints are not ours.
  const isWhole = own.problems.length === 0 || below !== undefined;
  const conf = isWhole ? own : ((await askFluentd(host, path, own)) ?? own);
  const problems = conf.problems.map((problem) => ({ ...problem, text: nameOptions(problem.text) }));
  return { path, conf: { ...conf, problems }, isGiven: given !== undefined };
}

/** Empty is as good as not set. */
function confNamed({ fluentConf }: ConfWanted, env: NodeJS.ProcessEnv): string | undefined {
  return fluentConf ?? (env.FLUENT_CONF || undefined);
}

/** Below a root another's files come first, and only the one that the option names may be ours. */
async function confPath(
  { fluentConf, below }: ConfWanted,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const given = confNamed({ fluentConf }, env);
  if (below === undefined) return given ?? (await firstThere(usualPlaces(env)));
  const names = given === undefined ? usualPlaces(env) : [given];
  return (await firstThere(names.map((name) => below.resolve(name)))) ?? fluentConf;
}

async function refuseUnreadable(path: string, { fluentConf }: ConfWanted): Promise<void> {
  const why = await whyUnreadable(path);
  if (why === undefined) return;
  const option = fluentConf === undefined ? 'FLUENT_CONF' : '`fluentConf`';
  throw new UsageError(
    `${option}: ${path}: ${why}; name fluentd's configuration, or the pos file with \`posFiles\``,
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

async function firstThere(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await exists(path)) return path;
  return undefined;
}

/** The environment of the one fluentd that runs, where it may be read: its ENV['X'] are its own. */
async function rubyContext(host: Host, env: NodeJS.ProcessEnv): Promise<RubyContext> {
  const [fluentd, ...others] = findSupervisors(await host.listProcesses());
  const own = fluentd !== undefined && others.length === 0 ? environmentOf(fluentd.pid) : undefined;
  return { env: own ?? env, hostname: hostname(), foreign: own === undefined };
}

/** What Ruby wrote, Ruby evaluates: a dry run takes about a second; the RPC answers where enable_get_dump is set. */
async function askFluentd(host: Host, path: string, own: FluentConf): Promise<FluentConf | undefined> {
  const printed = await dryRun(path);
  if (printed !== undefined) return fluentConfFromDump(printed);
  const { rpcEndpoint, enableGetDump } = own.system;
  if (rpcEndpoint === undefined || !enableGetDump) return undefined;
  const answer = await host.get(rpcEndpoint, '/api/config.getDump');
  return answer === undefined ? undefined : fromGetDump(answer);
}

function fromGetDump(answer: string): FluentConf | undefined {
  try {
    const { conf } = JSON.parse(answer) as { conf?: unknown };
    return typeof conf === 'string' ? fluentConfFromDump(conf) : undefined;
  } catch {
    return undefined;
  }
}
