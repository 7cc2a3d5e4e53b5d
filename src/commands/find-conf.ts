import { hostname } from 'node:os';
import { problemText } from '../core/conf-element.ts';
import { type FluentConf, fluentConfFromDump, type RubyContext } from '../core/fluent-conf.ts';
import { findSupervisors } from '../core/processes.ts';
import type { Host } from '../host.ts';
import { loadFluentConf } from '../node/conf-files.ts';
import { dryRun } from '../node/dry-run.ts';
import { exists } from '../node/files.ts';
import { environmentOf } from '../node/proc.ts';
import { UsageError } from './usage-error.ts';

export interface FoundConf {
  readonly path: string;
  readonly conf: FluentConf;
  /** Named by the user, not just found lying there. */
  readonly isGiven: boolean;
}

interface ConfWanted {
  readonly fluentConf: string | undefined;
  /** Fluentd will run in posidle's own environment. */
  readonly ownEnvironment?: boolean;
}

/** Where the official images and packages have it (fluentd-docker-image's entrypoint; lib/fluent/env.rb). */
export function usualPlaces(env: NodeJS.ProcessEnv): readonly string[] {
  return [
    `/fluentd/etc/${env.FLUENTD_CONF || 'fluent.conf'}`,
    '/etc/fluent/fluent.conf',
    '/etc/fluent/fluentd.conf',
  ];
}

/** Fluentd's configuration, where one is given or found; evaluated as far as that can be done. */
export async function findConf(
  host: Host,
  { fluentConf: given, ownEnvironment = false }: ConfWanted,
  env: NodeJS.ProcessEnv,
): Promise<FoundConf | undefined> {
  // Empty is as good as not set.
  const named = given ?? (env.FLUENT_CONF || undefined);
  const path = named ?? (await firstThere(usualPlaces(env)));
  if (path === undefined) return undefined;
  if (!(await exists(path))) {
    const option = given === undefined ? 'FLUENT_CONF' : '--fluent-conf';
    throw new UsageError(
      `${option}: there is no file ${path}; name fluentd's configuration, or the pos file with --pos-file`,
    );
  }
  const ruby = ownEnvironment ? { env, hostname: hostname() } : await rubyContext(host, env);
  const own = await loadFluentConf(path, {
    ruby,
    includeDir: '/etc/fluent/conf.d',
  });
  const conf = own.problems.length === 0 ? own : ((await askFluentd(host, path, own)) ?? own);
  return { path, conf, isGiven: named !== undefined };
}

/** Every problem in one line each. */
export function problemsOf({ problems }: FluentConf): readonly string[] {
  return problems.map(problemText);
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
