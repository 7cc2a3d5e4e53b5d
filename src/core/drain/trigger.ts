/** The triggers that begin the drain, and the conditions that take one back. */
import type { Observation } from '../observe/observation.ts';
import { progressOf } from '../observe/progress-of.ts';
import { isLeft } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import { isOver, mainEndAt, quietAt, startDeadline } from './deadlines.ts';
import { hasBytesLeft } from './gates.ts';
import type { Policy } from './policy.ts';
import { ofMain, type Trigger } from './state.ts';

/** The trigger that is certain: a request from outside, or main's process is gone. */
export function requestedBy(seen: Observation, policy: Policy): Trigger | undefined {
  return (
    seen.requests[0] ?? (isMainProcessGone(seen, policy) ? { by: 'done-process', at: seen.at } : undefined)
  );
}

function isMainProcessGone(seen: Observation, policy: Policy): boolean {
  return policy.doneProcess && isOver(mainEndAt(seen, policy), seen.at);
}

/** The quiet trigger: nothing has moved for the window, and Fluentd has no bytes left that it could read. */
export function quietBy(seen: Observation, policy: Policy): Trigger | undefined {
  const isLeftToRead =
    seen.witness === undefined ? hasBytesLeft(seen) : isLeft(progressOf(seen, policy), 'unread');
  const isQuiet = hasStoodStill(seen, policy) && (seen.goneSince !== undefined || !isLeftToRead);
  return isQuiet ? { by: 'quiet', at: seen.at } : undefined;
}

/** Whether unread bytes are all that prevents quiet: only a witness knows whether Fluentd may read them. */
export function needsWitness(seen: Observation, policy: Policy): boolean {
  return seen.source === 'witness' && hasStoodStill(seen, policy) && hasBytesLeft(seen);
}

function hasStoodStill(seen: Observation, policy: Policy): boolean {
  // An unknown pos file blocks quiet only until the start timeout. The drain has its own gate for it.
  const isKnown = seen.unknown.length === 0 || isOver(startDeadline(seen.memory.began, policy), seen.at);
  return isKnown && isOver(quietAt(seen, policy), seen.at);
}

export function isGuess(trigger: Trigger): boolean {
  return ofMain(trigger) === 'guess';
}

export function hasMovedSince(at: Millis, { movedAt }: Observation): boolean {
  return movedAt !== undefined && movedAt > at;
}

/** Only after main has ended: posidle's newline would cut a line that main still writes. */
export function completesLines(trigger: Trigger, policy: Policy): boolean {
  return policy.completeLastLine === 'when-main-has-ended'
    ? ofMain(trigger) === 'ended'
    : policy.completeLastLine;
}

/** Whether nobody has said that main has ended: no trigger came, or only one that main may survive. */
export function mayMainRun(trigger: Trigger | undefined, seen: Observation, policy: Policy): boolean {
  if (isMainProcessGone(seen, policy)) return false;
  return [...(trigger ? [trigger] : []), ...seen.requests].every((call) => ofMain(call) === 'nothing');
}
