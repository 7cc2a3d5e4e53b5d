import type { Observation } from './observation.ts';
import { type Policy, stopReserve } from './policy.ts';
import type { StopRequest } from './snapshot.ts';
import type { State, Trigger } from './state.ts';
import type { Millis } from './units.ts';

/** in_tail looks at every file that it follows this often, events or not (in_tail.rb:490). */
const IN_TAIL_TICK: Millis = 1_000;

export function isOver(deadline: Millis | undefined, at: Millis): boolean {
  return deadline !== undefined && at >= deadline;
}

/** When the quiet window ends; undefined: silence is no trigger, or nothing has moved yet. */
export function quietAt({ movedAt }: Observation, { quiet }: Policy): Millis | undefined {
  return quiet === 'off' || movedAt === undefined ? undefined : movedAt + quiet;
}

/** When main's process counts as ended: gone for the settle time, or never seen within the start timeout. */
export function mainEndAt({ memory }: Observation, { settle, startTimeout }: Policy): Millis | undefined {
  const { seen, goneSince } = memory.main;
  if (goneSince !== undefined) return goneSince + settle;
  return seen || startTimeout === 'off' ? undefined : memory.began + startTimeout;
}

/** When what must come first is given up. */
export function startDeadline({ since }: State, { startTimeout }: Policy): Millis | undefined {
  return startTimeout === 'off' ? undefined : since + startTimeout;
}

/**
 * The quiet window counts towards the settle time; what came before any other trigger does not. What is appended to a
 * renamed file is read for rotate_wait, and no pos file shows it (in_tail.rb:1035).
 */
export function settleEnd(
  { trigger }: { readonly trigger: Trigger },
  seen: Observation,
  policy: Policy,
): Millis {
  const since = seen.readSince ?? trigger.at;
  const held = (trigger.by === 'quiet' ? since : Math.max(since, trigger.at)) + policy.settle;
  const rotated = seen.rotatedAt === undefined ? held : seen.rotatedAt + policy.rotateWait + IN_TAIL_TICK;
  // A supervisor that has only just (re)started would die of a signal, whatever stands in the pos file.
  const started = (seen.memory.supervisor?.since ?? Number.NEGATIVE_INFINITY) + policy.settle;
  return Math.max(held, rotated, started);
}

/** A signal means that the kubelet counts: then the grace period bounds it all, whatever began the drain. */
export function drainDeadline(trigger: Trigger, seen: Observation, policy: Policy): Millis {
  const own = trigger.at + policy.drainTimeout;
  const [signal] = signalsIn(seen);
  if (signal === undefined) return own;
  const byGrace = signal.at + policy.grace - stopReserve(policy);
  return signal.by === trigger.by ? byGrace : Math.min(own, byGrace);
}

/** When what is left of Fluentd gets SIGKILL. */
export function stopDeadline({ since }: State, seen: Observation, policy: Policy): Millis {
  const [signal] = signalsIn(seen);
  if (signal === undefined) return since + policy.stopTimeout;
  return Math.max(signal.at + policy.grace, since + stopReserve(policy));
}

/** The calls for the end that came as a signal. */
export function signalsIn({ requests }: Observation): readonly StopRequest[] {
  return requests.filter(({ by }) => by === 'SIGTERM' || by === 'SIGINT');
}
