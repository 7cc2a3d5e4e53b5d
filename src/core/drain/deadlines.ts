import type { StopRequest } from '../look/snapshot.ts';
import type { Observation } from '../observe/observation.ts';
import type { Progress } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import { type Policy, stopReserve } from './policy.ts';
import type { State, Trigger } from './state.ts';

/** A worker reads its configuration and loads its plugins first. */
const SLOW_WORKER: Millis = 60_000;
/** How long before the drain's deadline what was read is flushed: it must still be delivered. */
const FLUSH_RESERVE: Millis = 10_000;
const ALREADY_OVER = Number.NEGATIVE_INFINITY;

export function isOver(deadline: Millis | undefined, at: Millis): boolean {
  return deadline !== undefined && at >= deadline;
}

/** When a Fluentd that is not there yet is given up. After a signal the kubelet counts: main may have been faster than Fluentd's start. */
export function absenceDeadline(state: State, seen: Observation, policy: Policy): Millis | undefined {
  if (kubeletCallsIn(seen).length > 1) return ALREADY_OVER;
  return earliest([startDeadline(state.since, policy), graceEnd(seen, policy)]);
}

function earliest(instants: readonly (Millis | undefined)[]): Millis | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** When the quiet window ends; undefined: silence is no trigger, or nothing has moved yet. */
export function quietAt({ movedAt }: Observation, { quiet }: Policy): Millis | undefined {
  return quiet === 'off' || movedAt === undefined ? undefined : movedAt + quiet;
}

/** When main's process counts as ended: gone for long enough, or never seen within the start timeout. */
export function mainEndAt({ memory }: Observation, policy: Policy): Millis | undefined {
  const { seen, goneSince } = memory.main;
  if (goneSince !== undefined) return goneSince + policy.doneProcessGone;
  return seen ? undefined : startDeadline(memory.began, policy);
}

export function startDeadline(since: Millis, { startTimeout }: Policy): Millis | undefined {
  return startTimeout === 'off' ? undefined : since + startTimeout;
}

/** When a trigger will come if nothing happens. */
export function triggerAt(seen: Observation, policy: Policy): Millis | undefined {
  const instants = [quietAt(seen, policy), policy.doneProcess ? mainEndAt(seen, policy) : undefined];
  return earliest(instants.filter((at) => !isOver(at, seen.at)));
}

/** When everything has been read for long enough to be believed. A main that may still run is waited for, too. */
export function settleEnd(
  { inFlightUntil }: Pick<Progress, 'inFlightUntil'>,
  trigger: Trigger,
  seen: Observation,
  policy: Policy,
): Millis {
  const meansMainEnded = policy.role === 'native-sidecar' && trigger.by !== 'hook';
  if (meansMainEnded || MEANS_THE_END.has(trigger.by)) return inFlightUntil;
  return Math.max(inFlightUntil, Math.max(trigger.at, seen.movedAt ?? trigger.at) + policy.settle);
}

const MEANS_THE_END: ReadonlySet<Trigger['by']> = new Set([
  'quiet',
  'done-process',
  'done-file',
  'main-ended',
  'deserted',
  'start-timeout',
]);

/** The worker has not opened its pos file. One that never will is not waited for: the pos files may be another Fluentd's. */
export function isWorkerStarting({ fluentd, memory, at }: Observation): boolean {
  if (fluentd.kind !== 'running' || fluentd.isStarting !== true) return false;
  return !isOver((memory.workersSince ?? memory.began) + SLOW_WORKER, at);
}

/** When it is time to flush, whatever is still unread. */
export function lastFlushAt(trigger: Trigger, seen: Observation, policy: Policy): Millis {
  const deadline = drainDeadline(trigger, seen, policy);
  const begun = Math.max(trigger.at, kubeletCallsIn(seen)[0]?.at ?? trigger.at);
  return deadline - Math.min(FLUSH_RESERVE, (deadline - begun) / 2);
}

/** How long a Fluentd that ended by itself is waited for once the drain has begun. */
export function returnDeadline(trigger: Trigger, seen: Observation, policy: Policy): Millis | undefined {
  if (seen.goneSince === undefined) return undefined;
  if (policy.role === 'parent') return seen.goneSince;
  const deadline = drainDeadline(trigger, seen, policy);
  // A restart by hand, or SIGUSR2 since 1.18, puts another supervisor in its place at once.
  return policy.restartPolicy !== 'never'
    ? deadline
    : Math.min(deadline, Math.max(seen.goneSince, trigger.at) + policy.settle);
}

/** A signal means that the kubelet counts: then the grace period bounds it all, whatever began the drain. */
export function drainDeadline(trigger: Trigger, seen: Observation, policy: Policy): Millis {
  const own = trigger.at + policy.drainTimeout;
  const byGrace = graceEnd(seen, policy);
  if (byGrace === undefined) return own;
  return kubeletCallsIn(seen)[0]?.by === trigger.by ? byGrace : Math.min(own, byGrace);
}

/** When the stop has to begin for the kubelet's sake; undefined: it does not count. */
function graceEnd(seen: Observation, policy: Policy): Millis | undefined {
  const [signal] = kubeletCallsIn(seen);
  return signal && signal.at + policy.grace - stopReserve(policy);
}

export function stopDeadline({ since }: State, seen: Observation, policy: Policy): Millis {
  const [signal] = kubeletCallsIn(seen);
  if (signal === undefined) return since + policy.stopTimeout;
  return Math.max(signal.at + policy.grace, since + stopReserve(policy));
}

/** The calls for the end that the kubelet made: by a signal or a hook. */
export function kubeletCallsIn({ requests }: Pick<Observation, 'requests'>): readonly StopRequest[] {
  return requests.filter(({ by }) => KUBELET_CALLS.has(by));
}

const KUBELET_CALLS: ReadonlySet<StopRequest['by']> = new Set(['SIGTERM', 'SIGINT', 'main-ended', 'hook']);
