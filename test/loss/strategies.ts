import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ProcessGroup, startGroup } from '../support/process-group.ts';
import { seconds } from './plan.ts';
import type { Pod } from './pod.ts';

/** The sidecar of a Pod: Fluentd, and whatever is to stop it. */
export interface Sidecar {
  group: ProcessGroup;
  /** What the kubelet does when main has ended. */
  mainEnded?(): void;
}

export type StrategyName = 'posidle' | 'interval-script' | 'sigkill-on-marker' | 'sigterm';

export interface Strategy {
  name: StrategyName;
  title: string;
  start(pod: Pod, flags: readonly string[]): Sidecar;
}

const GRACE = 30_000;

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

function fluentdCommand(pod: Pod): string {
  return `${quote(pod.plan.fluentd.command)} -c ${quote(pod.conf)} >>${quote(pod.fluentdLog)} 2>&1`;
}

/** A container as far as signals go: when the shell, its PID 1, ends, all that is left gets SIGKILL. */
function container(pod: Pod, script: string): Sidecar {
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const namespace = ['unshare', ...asRoot, '--fork', '--pid', '--mount-proc', '--kill-child'];
  const command = ['setpriv', '--pdeathsig', 'KILL', ...namespace, 'sh', '-c', script];
  const env = { ...pod.plan.fluentd.env, CI: '' };
  return { group: startGroup(command, { log: pod.watcherLog, env, cwd: pod.dir }) };
}

/** `sh -c 'fluentd & watcher'`, the founding article's container. */
const beside = (pod: Pod, watcher: string) =>
  container(pod, `${fluentdCommand(pod)} &\nfluentd=$!\n${watcher}\n`);

function startPosidle(pod: Pod, flags: readonly string[]): Sidecar {
  const cli = resolve('dist/cli.js');
  if (!existsSync(cli)) throw new Error(`${cli} is missing: npm run build`);
  const words = [process.execPath, cli, 'watch', '--log-format', 'json', ...flags];
  return beside(pod, words.map(quote).join(' '));
}

function startIntervalScript(pod: Pod): Sidecar {
  const snapshot = `$(cat ${quote(pod.pos)} 2>/dev/null)`;
  return beside(
    pod,
    `before=${snapshot}
while sleep ${seconds(pod.plan.waits.window)}; do
  after=${snapshot}
  [ "$before" = "$after" ] && break
  before=$after
done
kill -INT "$fluentd"`,
  );
}

function startSigkill(pod: Pod): Sidecar {
  return beside(pod, `while [ ! -e ${quote(pod.marker)} ]; do sleep 1; done\nkill -KILL "$fluentd"`);
}

/** Fluentd alone; the kubelet sends SIGTERM when main has ended, and SIGKILL when the grace period is over. */
function startSigterm(pod: Pod): Sidecar {
  const { command, env } = pod.plan.fluentd;
  const group = startGroup([command, '-c', pod.conf], { log: pod.fluentdLog, env, cwd: pod.dir });
  const mainEnded = () => {
    group.process.kill('SIGTERM');
    const timer = setTimeout(group.kill, GRACE);
    const cancel = () => clearTimeout(timer);
    group.exited.then(cancel, cancel);
  };
  return { group, mainEnded };
}

export const strategies: readonly Strategy[] = [
  { name: 'posidle', title: 'posidle', start: startPosidle },
  { name: 'interval-script', title: 'fixed-interval script', start: startIntervalScript },
  { name: 'sigkill-on-marker', title: 'SIGKILL on a marker', start: startSigkill },
  { name: 'sigterm', title: 'SIGTERM, 30 s grace', start: startSigterm },
];
