/** The triggers that begin the drain, and the conditions that take one back. */
import { type DoubtKind, isLeft } from '../progress/progress.ts';
import type { Seen } from '../progress/seen.ts';
import type { Millis } from '../text/units.ts';
import { isOver, mainEndAt, quietAt, startDeadline } from './deadlines.ts';
import type { Policy } from './policy.ts';
import { ofMain, type Trigger } from './state.ts';

/** The trigger that is certain: a request from outside, or main's process is gone. */
export function requestedBy(seen: Seen, policy: Policy): Trigger | undefined {
  return (
    seen.requests[0] ?? (isMainProcessGone(seen, policy) ? { by: 'done-process', at: seen.at } : undefined)
  );
}

function isMainProcessGone(seen: Seen, policy: Policy): boolean {
  return policy.doneProcess && isOver(mainEndAt(seen, policy), seen.at);
}

/** The quiet trigger: nothing has moved for the window, and Fluentd has no bytes left that it could read. */
export function quietBy(seen: Seen, policy: Policy): Trigger | undefined {
  const isQuiet =
    hasStoodStill(seen, policy) && (seen.goneSince !== undefined || !isLeft(seen.progress, 'unread'));
  return isQuiet ? { by: 'quiet', at: seen.at } : undefined;
}

/** Whether unread bytes are all that prevents quiet: only a witness knows whether Fluentd may read them. */
export function needsWitness(seen: Seen, policy: Policy): boolean {
  const isAsked = seen.progress.source === 'witness';
  return (
    seen.source === 'witness' && !isAsked && hasStoodStill(seen, policy) && isLeft(seen.progress, 'unread')
  );
}

function hasStoodStill(seen: Seen, policy: Policy): boolean {
  // An unknown pos file blocks quiet only until the start timeout. The drain has its own gate for it.
  const isUnknown = seen.progress.doubts.some(({ kind }) => UNKNOWN.has(kind));
  const isKnown = !isUnknown || isOver(startDeadline(seen.began, policy), seen.at);
  return isKnown && isOver(quietAt(seen, policy), seen.at);
}

const UNKNOWN: ReadonlySet<DoubtKind> = new Set(['pos-file', 'empty-pos-file', 'not-looked-at']);

export function isGuess(trigger: Trigger): boolean {
  return ofMain(trigger) === 'guess';
}

export function hasMovedSince(at: Millis, { progress: { movedAt } }: Seen): boolean {
  return movedAt !== undefined && movedAt > at;
}

/** Whether main has certainly ended. */
export function hasMainEnded(trigger: Trigger, seen: Seen, policy: Policy): boolean {
  return (
    isMainProcessGone(seen, policy) || [trigger, ...seen.requests].some((call) => ofMain(call) === 'ended')
  );
}

/** Whether nobody has said that main has ended: no trigger came, or only one that main may survive. */
export function mayMainRun(trigger: Trigger | undefined, seen: Seen, policy: Policy): boolean {
  if (isMainProcessGone(seen, policy)) return false;
  return [...(trigger ? [trigger] : []), ...seen.requests].every((call) => ofMain(call) === 'nothing');
}
