/** The triggers that begin the drain, and the conditions that take one back. */
import type { OfMain } from '../progress/drain-request.ts';
import { type DoubtKind, isLeft } from '../progress/progress.ts';
import type { Seen } from '../progress/seen.ts';
import type { Millis } from '../text/units.ts';
import {
  drainDeadline,
  isOver,
  mainEndAt,
  NEVER,
  quietAt,
  startDeadline,
  timedCallsIn,
} from './deadlines.ts';
import type { Policy } from './policy.ts';
import { ofMain, type State, type Trigger } from './state.ts';

/** The trigger that is certain: a request from outside, main's process is gone, or the child of `run` left its workers alone. */
export function requestedBy(seen: Seen, policy: Policy): Trigger | undefined {
  const { at } = seen;
  if (seen.requests[0] !== undefined) return seen.requests[0];
  if (isMainProcessGone(seen, policy)) return { by: 'done-process', at };
  const isDeserted = seen.fluentd.kind === 'remote' && seen.fluentd.isOrphaned;
  return isDeserted ? { by: 'deserted', at } : undefined;
}

function isMainProcessGone(seen: Seen, policy: Policy): boolean {
  return policy.doneProcess && isOver(mainEndAt(seen, policy), seen.at);
}

/** The quiet trigger: nothing has moved for the window, and Fluentd has no bytes left that it could read. */
export function quietBy(seen: Seen, policy: Policy): Trigger | undefined {
  const isQuiet = hasStoodStill(seen, policy) && (seen.goneSince !== undefined || !mayBeUnread(seen));
  return isQuiet ? { by: 'quiet', at: seen.at } : undefined;
}

/** The scope of the next look. While only unread bytes prevent quiet, the witness is asked whether Fluentd may read them. */
export function depthIn({ name }: State, seen: Seen, policy: Policy): 'light' | 'all' {
  if (name !== 'watching') return name === 'draining' ? 'all' : 'light';
  const isUnasked = seen.source === 'witness' && seen.progress.source !== 'witness';
  return isUnasked && hasStoodStill(seen, policy) && mayBeUnread(seen) ? 'all' : 'light';
}

/** Bytes of a pos file that has become unknown may be unread, too. */
function mayBeUnread({ progress }: Seen): boolean {
  return (
    isLeft(progress, 'unread') ||
    progress.doubts.some(({ kind, bytes = 0 }) => kind === 'pos-file' && bytes > 0)
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

/** The surest thing that the trigger, a later request or main's process says of main. */
export function ofMainBy(trigger: Trigger | undefined, seen: Seen, policy: Policy): OfMain {
  if (processEnd(seen, policy) !== undefined) return 'ended';
  const words = callsOf(trigger, seen).map(ofMain);
  return SUREST_FIRST.find((word) => words.includes(word)) ?? 'nothing';
}

function callsOf(trigger: Trigger | undefined, seen: Seen): readonly Trigger[] {
  const stands = trigger !== undefined && !isTakenBack(trigger, seen);
  return [...(stands ? [trigger] : []), ...seen.requests];
}

/** When the surest word about main's end first came; never if there is none. */
export function mainWroteUntil(trigger: Trigger | undefined, seen: Seen, policy: Policy): Millis {
  const surest = ofMainBy(trigger, seen, policy);
  const calls = callsOf(trigger, seen).filter((one) => surest !== 'nothing' && ofMain(one) === surest);
  return Math.min(processEnd(seen, policy) ?? NEVER, ...calls.map(({ at }) => at));
}

/** Since when main's process is gone; undefined if that proves no end. */
function processEnd(seen: Seen, policy: Policy): Millis | undefined {
  const { goneSince, longestGap } = seen.main;
  // Main has been away for longer before, and came back.
  const isSure = longestGap === undefined || longestGap < policy.doneProcessGone;
  return isSure && isMainProcessGone(seen, policy) ? goneSince : undefined;
}

/** Whether this look sees main run again: the kubelet has restarted it, or it had only been slow. */
export function isTakenBack({ by }: Trigger, { main, requests }: Seen): boolean {
  if (by === 'heartbeat') return !requests.some((request) => request.by === by);
  return by === 'done-process' && main.seen && main.goneSince === undefined;
}

const SUREST_FIRST: readonly OfMain[] = ['ended', 'stopped', 'guess', 'nothing'];

/**
 * Until when the drain waits to be told that main has ended: the kubelet stops both at the same time. Silence counts only after `--quiet`.
 * Undefined where nothing will tell it.
 */
export function mainAwaitedUntil(trigger: Trigger, seen: Seen, policy: Policy): Millis | undefined {
  if (ofMainBy(trigger, seen, policy) !== 'nothing' || timedCallsIn(seen).length === 0) return undefined;
  const isToCome = policy.hasDoneFile || mayProcessEnd(trigger, seen, policy);
  return isToCome ? quietAt(seen, policy) : undefined;
}

/** Main's process runs, or will count as ended before the drain must end. */
function mayProcessEnd(trigger: Trigger, seen: Seen, policy: Policy): boolean {
  if (!seen.main.seen || isMainProcessGone(seen, policy)) return false;
  return seen.main.goneSince === undefined || mainEndAt(seen, policy) < drainDeadline(trigger, seen, policy);
}

/**
 * Until when "everything is read" must hold: until no line can be on its way any more, and unless main has certainly ended or posidle itself
 * waited for silence, `settle` longer than the trigger, the last line and the first word about main's end.
 */
export function settleEnd(trigger: Trigger, seen: Seen, policy: Policy): Millis {
  const { movedAt = trigger.at, busyUntil } = seen.progress;
  if (['ended', 'guess'].includes(ofMainBy(trigger, seen, policy))) return busyUntil;
  const told = mainWroteUntil(trigger, seen, policy);
  const last = Math.max(trigger.at, movedAt, told === NEVER ? trigger.at : told);
  return Math.max(busyUntil, last + policy.settle);
}
