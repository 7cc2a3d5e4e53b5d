/** What calls for the end, and what takes that back. */
import type { Observation } from '../observe/observation.ts';
import { progressOf } from '../observe/progress-of.ts';
import { isLeft } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import { isOver, mainEndAt, quietAt, startDeadline } from './deadlines.ts';
import { hasBytesLeft } from './gates.ts';
import type { Policy } from './policy.ts';
import type { Trigger } from './state.ts';

/** Certain ends: a call from outside, or main's process that is gone. */
export function requestedBy(seen: Observation, policy: Policy): Trigger | undefined {
  const hasMainEnded = policy.doneProcess && isOver(mainEndAt(seen, policy), seen.at);
  return seen.requests[0] ?? (hasMainEnded ? { by: 'done-process', at: seen.at } : undefined);
}

/** Quiet: something was logged, nothing has moved for the window, and no bytes are left that could still move. */
export function quietBy(seen: Observation, policy: Policy): Trigger | undefined {
  const isQuiet =
    hasStoodStill(seen, policy) && (seen.goneSince !== undefined || !hasReadableLeft(seen, policy));
  return isQuiet ? { by: 'quiet', at: seen.at } : undefined;
}

/** Only a witness can tell whether Fluentd may read the bytes that keep it from being quiet. */
export function needsWitness(seen: Observation, policy: Policy): boolean {
  return seen.source === 'witness' && hasStoodStill(seen, policy) && hasBytesLeft(seen);
}

function hasStoodStill(seen: Observation, policy: Policy): boolean {
  // A pos file that cannot be believed holds it up for a while only; the drain's own gate still stands.
  const isKnown = seen.unknown.length === 0 || isOver(startDeadline(seen.memory.began, policy), seen.at);
  return isKnown && isOver(quietAt(seen, policy), seen.at);
}

function hasReadableLeft(seen: Observation, policy: Policy): boolean {
  return seen.witness === undefined ? hasBytesLeft(seen) : isLeft(progressOf(seen, policy), 'unread');
}

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

/** A main that goes on writing would find its line cut in two. */
export function completesLines({ by }: Trigger, { completeLastLine, role }: Policy): boolean {
  if (completeLastLine !== 'when-main-has-ended') return completeLastLine;
  // The kubelet sends SIGTERM to a native sidecar when main has ended (KEP-753).
  return MAIN_HAS_ENDED.has(by) || (role === 'native-sidecar' && by === 'SIGTERM');
}

const MAIN_HAS_ENDED: ReadonlySet<Trigger['by']> = new Set(['done-process', 'done-file', 'main-ended']);
