import type { Observation } from '../observe/observation.ts';
import { doubtEnd, isOver, quietAt } from './deadlines.ts';
import { hasBytesLeft } from './gates.ts';
import type { Policy } from './policy.ts';
import type { Trigger } from './state.ts';

/** Quiet: something was logged, nothing has moved for the window, and no bytes are left that could still move. */
export function quietBy(seen: Observation, policy: Policy): Trigger | undefined {
  const isKnown = seen.unknown.length === 0 || isOver(doubtEnd(seen, policy), seen.at);
  const isQuiet =
    isKnown &&
    isOver(quietAt(seen, policy), seen.at) &&
    (seen.goneSince !== undefined || !hasBytesLeft(seen));
  return isQuiet ? { by: 'quiet', at: seen.at } : undefined;
}
