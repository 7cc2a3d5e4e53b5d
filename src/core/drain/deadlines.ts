import type { StopRequest } from '../look/snapshot.ts';
import type { Observation } from '../observe/observation.ts';
import type { Progress } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import { type Policy, stopReserve } from './policy.ts';
import { ofMain, type State, type Trigger } from './state.ts';

/** How long a worker may take to load its configuration and plugins, and to open its pos file. */
const SLOW_WORKER: Millis = 60_000;
/** The last flush begins this long before the drain's deadline, so that its chunks still arrive. */
const FLUSH_RESERVE: Millis = 10_000;
/** For the last look and the outcome, before the kubelet kills posidle. */
const TIME_TO_TELL: Millis = 1_000;
const ALREADY_OVER = Number.NEGATIVE_INFINITY;

export function isOver(deadline: Millis | undefined, at: Millis): boolean {
  return deadline !== undefined && at >= deadline;
}

/** When posidle gives up waiting for Fluentd to start. After a signal the grace period counts, too. */
export function absenceDeadline(state: State, seen: Observation, policy: Policy): Millis | undefined {
  if (timedCallsIn(seen).length > 1) return ALREADY_OVER;
  const { fluentd } = seen;
  // A wrapper may run another Ruby program first, and a replaced Fluentd comes back at once. Nobody starts it again.
  if (fluentd.kind === 'absent' && fluentd.hasEnded) return state.since + policy.settle;
  return earliest([startDeadline(state.since, policy), graceEnd(seen, policy)]);
}

function earliest(instants: readonly (Millis | undefined)[]): Millis | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** When the quiet window ends; undefined if quiet is off or nothing has moved yet. */
export function quietAt({ movedAt }: Observation, { quiet }: Policy): Millis | undefined {
  return quiet === 'off' || movedAt === undefined ? undefined : movedAt + quiet;
}

/** When main's process counts as ended: after `doneProcessGone`, or after `startTimeout` if posidle never saw it. */
export function mainEndAt({ memory }: Observation, policy: Policy): Millis | undefined {
  const { seen, goneSince } = memory.main;
  if (goneSince !== undefined) return goneSince + policy.doneProcessGone;
  return seen ? undefined : startDeadline(memory.began, policy);
}

export function startDeadline(since: Millis, { startTimeout }: Policy): Millis | undefined {
  return startTimeout === 'off' ? undefined : since + startTimeout;
}

/** When the next trigger comes if nothing changes. */
export function triggerAt(seen: Observation, policy: Policy): Millis | undefined {
  const instants = [quietAt(seen, policy), policy.doneProcess ? mainEndAt(seen, policy) : undefined];
  return earliest(instants.filter((at) => !isOver(at, seen.at)));
}

/** Until when "everything is read" must hold. `settle` is added unless main has certainly ended, or posidle itself waited for silence. */
export function settleEnd(
  { inFlightUntil }: Pick<Progress, 'inFlightUntil'>,
  trigger: Trigger,
  seen: Observation,
  policy: Policy,
): Millis {
  if (['ended', 'guess'].includes(ofMain(trigger))) return inFlightUntil;
  return Math.max(inFlightUntil, Math.max(trigger.at, seen.movedAt ?? trigger.at) + policy.settle);
}

/** A new worker has not opened its pos file yet. It may never do so (the pos file may be another Fluentd's), so the wait is bounded. */
export function isWorkerStarting({ fluentd, memory, at }: Observation): boolean {
  if (fluentd.kind !== 'running' || fluentd.isStarting !== true) return false;
  return !isOver((memory.workersSince ?? memory.began) + SLOW_WORKER, at);
}

/** When posidle flushes even if files are still unread. */
export function lastFlushAt(trigger: Trigger, seen: Observation, policy: Policy): Millis {
  const deadline = drainDeadline(trigger, seen, policy);
  const begun = Math.max(trigger.at, timedCallsIn(seen)[0]?.at ?? trigger.at);
  return deadline - Math.min(FLUSH_RESERVE, (deadline - begun) / 2);
}

/** Until when a drain waits for a Fluentd that ended by itself to come back. */
export function returnDeadline(trigger: Trigger, seen: Observation, policy: Policy): Millis | undefined {
  if (seen.goneSince === undefined) return undefined;
  if (policy.role === 'parent') return seen.goneSince;
  // Time for a restart by SIGUSR2 (1.18 and later), which is immediate. An ending Pod starts no container again.
  return Math.min(drainDeadline(trigger, seen, policy), Math.max(seen.goneSince, trigger.at) + policy.settle);
}

/** After a signal the grace period limits the drain, whatever its trigger was. */
export function drainDeadline(trigger: Trigger, seen: Observation, policy: Policy): Millis {
  const own = trigger.at + policy.drainTimeout;
  const byGrace = graceEnd(seen, policy);
  if (byGrace === undefined) return own;
  return timedCallsIn(seen)[0]?.by === trigger.by ? byGrace : Math.min(own, byGrace);
}

/** When the stop must begin to fit into the grace period; undefined before a signal. */
function graceEnd(seen: Observation, policy: Policy): Millis | undefined {
  const [signal] = timedCallsIn(seen);
  return signal && signal.at + policy.grace - stopReserve(policy);
}

export function stopDeadline({ since }: State, seen: Observation, policy: Policy): Millis {
  const [signal] = timedCallsIn(seen);
  if (signal === undefined) return since + policy.stopTimeout;
  const end = Math.max(signal.at + policy.grace, since + stopReserve(policy));
  // Then the kubelet kills posidle, too.
  return policy.podEnds ? end - TIME_TO_TELL : end;
}

/** The requests from which the grace period counts: signals and `posidle drain`. */
export function timedCallsIn({ requests }: Pick<Observation, 'requests'>): readonly StopRequest[] {
  return requests.filter(({ by }) => TIMED.has(by));
}

const TIMED: ReadonlySet<StopRequest['by']> = new Set(['SIGTERM', 'SIGINT', 'main-ended', 'drain']);
