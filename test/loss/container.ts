import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ProcessGroup, startGroup } from '../support/process-group.ts';
import { containerEnv } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';
import type { Pod } from './pod.ts';

/** The sidecar of a Pod: Fluentd, and whatever is to stop it. */
export interface Sidecar {
  group: ProcessGroup;
  /** What the kubelet, or main itself, does when main has ended; the marker is made in any case. */
  mainEnded?(): Promise<void>;
}

export const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** posidle's command line, for a shell. */
export function posidleCommand(...words: readonly string[]): string {
  return [process.execPath, resolve('dist/cli.js'), ...words].map(quote).join(' ');
}

export function fluentdCommand(pod: Pod): string {
  return `${quote(pod.plan.fluentd.command)} -c ${quote(pod.conf)}`;
}

/** A container as far as signals go: when the shell, its PID 1, ends, all that is left gets SIGKILL. */
export function container(pod: Pod, script: string): Sidecar {
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const namespace = ['unshare', ...asRoot, '--fork', '--pid', '--mount-proc', '--kill-child'];
  const command = ['setpriv', '--pdeathsig', 'KILL', ...namespace, 'sh', '-c', script];
  const env = { ...containerEnv(pod.plan.fluentd, pod.dir), CI: '' };
  return { group: startGroup(command, { log: pod.watcherLog, env, cwd: pod.dir }) };
}

/** `sh -c 'fluentd & watcher'`, the founding article's container; `env`: what Fluentd finds there. */
export function beside(pod: Pod, watcher: string, env: NodeJS.ProcessEnv = {}): Sidecar {
  const words = Object.entries(env).map(([name, value]) => quote(`${name}=${value}`));
  const fluentd = ['env', ...words, fluentdCommand(pod)].join(' ');
  return container(pod, `${fluentd} >>${quote(pod.fluentdLog)} 2>&1 &\nfluentd=$!\n${watcher}\n`);
}

/** The process outside that is PID 1 inside. */
export async function firstProcess({ group }: Sidecar): Promise<number> {
  const children = `/proc/${group.pid}/task/${group.pid}/children`;
  return await until('the container has a process', () =>
    Number.parseInt(readFileSync(children, 'utf8'), 10),
  );
}
