import { startGroup } from '../support/process-group.ts';
import { beside, quote, type Sidecar } from './container.ts';
import { seconds } from './plan.ts';
import type { Pod } from './pod.ts';
import type { Scenario } from './scenarios.ts';
import { type TriggerName, triggers } from './triggers.ts';

export interface Strategy {
  name: string;
  title: string;
  start(pod: Pod, scenario: Scenario): Sidecar;
  /** posidle's trigger, where it promises that no line of this scenario is lost. */
  promises(scenario: Scenario): TriggerName | undefined;
}

const GRACE = 30_000;

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
  const mainEnded = async () => {
    group.process.kill('SIGTERM');
    const timer = setTimeout(group.kill, GRACE);
    const cancel = () => clearTimeout(timer);
    group.exited.then(cancel, cancel);
  };
  return { group, mainEnded };
}

/** posidle, told of main's end in one certain way, or in the scenario's own. */
const posidle = (name: string, title: string, by?: TriggerName): Strategy => ({
  name,
  title,
  start: (pod, { trigger, flags }) => triggers[by ?? trigger](pod, flags(pod)),
  // Quiet cannot tell sleeping from finished.
  promises: ({ sleeps, trigger }) => (by === 'quiet' && sleeps ? undefined : (by ?? trigger)),
});

const rival = (name: string, title: string, start: Strategy['start']): Strategy => ({
  name,
  title,
  start,
  promises: () => undefined,
});

/** posidle beside its rivals. */
export const strategies: readonly Strategy[] = [
  posidle('posidle', 'posidle'),
  rival('interval-script', 'fixed-interval script', startIntervalScript),
  rival('sigkill-on-marker', 'SIGKILL on a marker', startSigkill),
  rival('sigterm', 'SIGTERM, 30 s grace', startSigterm),
];

/** posidle with each of its triggers. */
export const triggered: readonly Strategy[] = [
  posidle('by-done-file', 'done file', 'done-file'),
  posidle('by-done-process', "main's process", 'done-process'),
  posidle('by-http', 'POST /quitquitquit', 'http'),
  posidle('by-sigterm', 'SIGTERM to `run`', 'SIGTERM'),
  posidle('by-quiet', 'quiet', 'quiet'),
];
