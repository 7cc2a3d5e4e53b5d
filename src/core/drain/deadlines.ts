import { DRAIN_REQUESTS, type DrainRequest } from '../progress/drain-request.ts';
import type { Seen } from '../progress/seen.ts';
import type { Millis } from '../text/units.ts';
import { type Policy, stopReserve } from './policy.ts';
import type { Of, State, Trigger } from './state.ts';

/** The last flush begins this long before the drain's deadline, so that its chunks still arrive. */
const FLUSH_RESERVE: Millis = 10_000;
/** For the last look and the outcome, before the kubelet kills posidle. */
const TIME_TO_TELL: Millis = 1_000;
/** The timers of in_tail and concat run once a second. */
const EMIT_TICK: Millis = 2_000;
/** in_tail's event loop wakes up within half a second. */
const FINISH_TIME: Millis = 2_000;
const ALREADY_OVER = Number.NEGATIVE_INFINITY;
export const NEVER = Number.POSITIVE_INFINITY;

export function isOver(deadline: Millis, at: Millis): boolean {
  return at >= deadline;
}

/** When posidle gives up waiting for Fluentd to start. After a signal the grace period counts, too. */
export function absenceDeadline(state: Of<'waiting'>, seen: Seen, policy: Policy): Millis {
  if (timedCallsIn(seen).length > 1) return ALREADY_OVER;
  const { fluentd } = seen;
  // A wrapper may run another Ruby program first, and a replaced Fluentd comes back at once. Nobody starts it again.
  const wasThere = state.startingAt ?? state.since;
  if (fluentd.kind === 'absent' && fluentd.hasEnded) return wasThere + policy.settle;
  // Fluentd stops undrained, which takes longer.
  return Math.min(startDeadline(state.since, policy), graceEnd(seen, { ...policy, podEnds: false }));
}

/** When the quiet window ends; never if quiet is off or nothing has moved yet. */
export function quietAt({ progress: { movedAt } }: Seen, { quiet }: Policy): Millis {
  return quiet === 'off' || movedAt === undefined ? NEVER : movedAt + quiet;
}

/** When main's process counts as ended: after `doneProcessGone`, or after `startTimeout` if posidle never saw it. */
export function mainEndAt({ main, began }: Seen, policy: Policy): Millis {
  const { seen, goneSince } = main;
  if (goneSince !== undefined) return goneSince + policy.doneProcessGone;
  return seen ? NEVER : startDeadline(began, policy);
}

export function startDeadline(since: Millis, { startTimeout }: Policy): Millis {
  return startTimeout === 'off' ? NEVER : since + startTimeout;
}

/** When the next trigger comes if nothing changes. */
export function triggerAt(seen: Seen, policy: Policy): Millis {
  const instants = [quietAt(seen, policy), policy.doneProcess ? mainEndAt(seen, policy) : NEVER];
  return Math.min(...instants.filter((at) => !isOver(at, seen.at)));
}

/** Until when in_tail may still deliver the last line or record that it was asked to finish. */
export function finishEnd(asked: Millis, { progress: { movedAt = asked } }: Seen): Millis {
  return Math.max(asked, movedAt) + FINISH_TIME;
}

/** Until when Fluentd emits by itself what it keeps outside of buffers: records of a multiline source, or of a filter such as concat. */
export function keptUntil(trigger: Trigger, { progress: { left, movedAt = trigger.at } }: Seen): Millis {
  const waits = left.flatMap((one) => (one.kind === 'kept' ? (one.emitsAfter ?? []) : []));
  return Math.max(ALREADY_OVER, ...waits.map((after) => movedAt + after + EMIT_TICK));
}

/** When posidle flushes even if files are still unread. */
export function lastFlushAt(trigger: Trigger, seen: Seen, policy: Policy): Millis {
  const deadline = drainDeadline(trigger, seen, policy);
  const begun = Math.max(trigger.at, timedCallsIn(seen)[0]?.at ?? trigger.at);
  return deadline - Math.min(FLUSH_RESERVE, (deadline - begun) / 2);
}

/** Until when a drain waits for a Fluentd that ended by itself to come back. */
export function returnDeadline(trigger: Trigger, seen: Seen, policy: Policy): Millis {
  if (seen.goneSince === undefined) return NEVER;
  // Time for a restart by SIGUSR2 (1.18 and later), which is immediate. An ending Pod starts no container again.
  return Math.min(drainDeadline(trigger, seen, policy), Math.max(seen.goneSince, trigger.at) + policy.settle);
}

/** After a signal the grace period limits the drain, whatever its trigger was. */
export function drainDeadline(trigger: Trigger, seen: Seen, policy: Policy): Millis {
  const byGrace = graceEnd(seen, policy);
  const isTimed = timedCallsIn(seen)[0]?.by === trigger.by;
  return isTimed ? byGrace : Math.min(trigger.at + policy.drainTimeout, byGrace);
}

/** When the stop must begin to fit into the grace period; never before a signal. */
function graceEnd(seen: Seen, policy: Policy): Millis {
  const [signal] = timedCallsIn(seen);
  return signal === undefined ? NEVER : signal.at + policy.grace - stopReserve(policy);
}

export function stopDeadline({ since }: State, seen: Seen, policy: Policy): Millis {
  const [signal] = timedCallsIn(seen);
  if (signal === undefined) return since + policy.stopTimeout;
  // Then the kubelet kills posidle, too.
  if (policy.podEnds) return signal.at + policy.grace - TIME_TO_TELL;
  return Math.max(signal.at + policy.grace, since + stopReserve(policy));
}

/** The requests from which the grace period counts: signals and `posidle drain`. */
export function timedCallsIn({ requests }: Pick<Seen, 'requests'>): readonly DrainRequest[] {
  return requests.filter(({ by }) => DRAIN_REQUESTS[by].isTimed);
}
