import type { Observation } from '../observe/observation.ts';
import { progressOf } from '../observe/progress-of.ts';
import { isLeft } from '../progress/progress.ts';
import { doubtEnd, isOver, quietAt } from './deadlines.ts';
import { hasBytesLeft } from './gates.ts';
import type { Policy } from './policy.ts';
import type { Trigger } from './state.ts';

/** Quiet: something was logged, nothing has moved for the window, and no bytes are left that could still move. */
export function quietBy(seen: Observation, policy: Policy): Trigger | undefined {
  const isQuiet =
    hasStoodStill(seen, policy) && (seen.goneSince !== undefined || !hasReadableLeft(seen, policy));
  return isQuiet ? { by: 'quiet', at: seen.at } : undefined;
}

/** Only a witness can tell whether Fluentd may read the bytes that keep it from being quiet. */
export function asksWitness(seen: Observation, policy: Policy): boolean {
  return seen.source === 'witness' && hasStoodStill(seen, policy) && hasBytesLeft(seen);
}

function hasStoodStill(seen: Observation, policy: Policy): boolean {
  const isKnown = seen.unknown.length === 0 || isOver(doubtEnd(seen, policy), seen.at);
  return isKnown && isOver(quietAt(seen, policy), seen.at);
}

function hasReadableLeft(seen: Observation, policy: Policy): boolean {
  return seen.witness === undefined ? hasBytesLeft(seen) : isLeft(progressOf(seen, policy), 'unread');
}
