import { heldIn, isLeft } from '../progress/progress.ts';
import type { Seen } from '../progress/seen.ts';
import type { Millis } from '../text/units.ts';
import { isOver, lastFlushAt } from './deadlines.ts';
import type { Policy } from './policy.ts';
import type { Draining, Gate } from './state.ts';
import { hasMovedSince } from './trigger.ts';

/** The time between two flushes if chunks are still left. */
const FLUSH_AGAIN: Millis = 10_000;
/**
 * The least time between two flushes. By SIGUSR1 Fluentd carries out one at a time (engine.rb, flush!), and each one that finds a chunk takes
 * a second or more (output.rb, submit_flush_all). Signals that come faster pile up, and Fluentd ends only after the last one.
 */
const FLUSH_PAUSE: Millis = 2_000;
/** in_tail looks at its files once a second, so an input that has not moved for longer is blocked. */
const HELD_UP: Millis = 1_500;

/**
 * Whether to flush now. `gate` is the first closed gate. A flush helps if everything is read, every 10 s while chunks stay or main is
 * waited for, if a full buffer blocks in_tail, and shortly before the deadline.
 */
export function isFlushDue(state: Draining, gate: Gate, seen: Seen, policy: Policy): boolean {
  const { flushedAt = Number.NEGATIVE_INFINITY, trigger } = state;
  if (!mayFlush(state, seen)) return false;
  if (gate.name === 'buffers' || gate.name === 'main') return isOver(flushedAt + FLUSH_AGAIN, seen.at);
  const isReading = gate.name === 'unread' || gate.name === 'unfound';
  const helps = gate.name === 'flush' || (isReading && isHeldUp(seen));
  return (
    isOver(flushedAt + FLUSH_PAUSE, seen.at) && (helps || isOver(lastFlushAt(trigger, seen, policy), seen.at))
  );
}

/** Whether a flush may help: Fluentd is reachable, and a buffer holds chunks or is not visible. A retrying output sends by itself. */
export function mayFlush(state: Draining, seen: Seen): boolean {
  if (seen.reach === 'none') return false;
  const { left, unseen } = seen.progress;
  if (heldIn(left).some(({ next }) => next === 'flush')) return true;
  return unseen.length > 0 && !isAllFlushed(state, seen);
}

/** Whether a flush has covered all that came. Records may come until main has ended. */
export function isAllFlushed({ flushedAt, mainEndedAt = flushedAt }: Draining, seen: Seen): boolean {
  if (flushedAt === undefined || mainEndedAt === undefined) return false;
  return flushedAt >= mainEndedAt && !hasMovedSince(flushedAt, seen);
}

/** Whether a full buffer may be blocking in_tail or a filter: something is on its way, and nothing has moved for too long. */
function isHeldUp({ progress, at }: Seen): boolean {
  const { movedAt } = progress;
  return movedAt !== undefined && isLeft(progress, 'unread', 'moving') && isOver(movedAt + HELD_UP, at);
}
