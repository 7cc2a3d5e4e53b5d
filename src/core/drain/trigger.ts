/** What begins the drain, and what takes that back. */
import type { Observation } from '../observe/observation.ts';
import type { Millis } from '../text/units.ts';
import { doubtEnd, isOver, mainEndAt, quietAt } from './deadlines.ts';
import { hasBytesLeft } from './gates.ts';
import type { Policy } from './policy.ts';
import type { Trigger } from './state.ts';

/** Certain ends: a call from outside, or main's process that is gone. */
export function requestedBy(seen: Observation, policy: Policy): Trigger | undefined {
  return seen.requests[0] ?? mainEndedBy(seen, policy);
}

function mainEndedBy(seen: Observation, policy: Policy): Trigger | undefined {
  if (!policy.doneProcess) return undefined;
  return isOver(mainEndAt(seen, policy), seen.at) ? { by: 'done-process', at: seen.at } : undefined;
}

/** Quiet: something was logged, nothing has moved for the window, and no bytes are left that could still move. */
export function quietBy(seen: Observation, policy: Policy): Trigger | undefined {
  const isKnown = seen.unknown.length === 0 || isOver(doubtEnd(seen, policy), seen.at);
  const isQuiet =
    isKnown &&
    isOver(quietAt(seen, policy), seen.at) &&
    (seen.goneSince !== undefined || !hasBytesLeft(seen));
  return isQuiet ? { by: 'quiet', at: seen.at } : undefined;
}

/** The kubelet started a main that failed again. */
export function isMainBack({ memory: { main } }: Observation): boolean {
  return main.seen && main.goneSince === undefined;
}

/** Silence can be taken back; a signal, a marker and a call cannot. */
export function isGuess({ by }: Trigger): boolean {
  return by === 'quiet' || by === 'start-timeout';
}

export function hasMovedSince(at: Millis, { movedAt }: Observation): boolean {
  return movedAt !== undefined && movedAt > at;
}
