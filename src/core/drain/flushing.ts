import { heldIn, isLeft } from '../progress/progress.ts';
import type { Seen } from '../progress/seen.ts';
import type { Millis } from '../text/units.ts';
import { lastFlushAt } from './deadlines.ts';
import type { Policy } from './policy.ts';
import type { Draining, Gate } from './state.ts';
import { hasMovedSince } from './trigger.ts';

/** The time between two flushes if chunks are still left. */
const FLUSH_AGAIN: Millis = 10_000;
/**
 * The least time between two flushes. Fluentd carries out one at a time (engine.rb, flush!), and each one that finds a chunk takes a second
 * or more (output.rb, submit_flush_all). Orders that come faster pile up, and Fluentd ends only after the last one.
 */
const FLUSH_PAUSE: Millis = 2_000;
/** in_tail looks at its files once a second, so an input that has not moved for longer is blocked. */
const HELD_UP: Millis = 1_500;

/**
 * When to flush next; undefined if no flush helps. `gate` is the first closed gate. A flush helps if everything is read, if chunks stay,
 * if a full buffer blocks in_tail, and shortly before the deadline.
 */
export function flushAt(state: Draining, gate: Gate, seen: Seen, policy: Policy): Millis | undefined {
  if (!mayFlush(state, seen)) return undefined;
  const last = state.flushedAt ?? Number.NEGATIVE_INFINITY;
  const next = last + FLUSH_PAUSE;
  const atTheLatest = lastFlushAt(state.trigger, seen, policy);
  switch (gate.name) {
    case 'flush':
      return Math.max(seen.at, next);
    case 'buffers':
      return last + FLUSH_AGAIN;
    case 'unread':
    case 'unfound':
      return Math.max(Math.min(heldUpAt(seen), atTheLatest), next);
    default:
      return Math.max(atTheLatest, next);
  }
}

/** Whether a flush may help: Fluentd is reachable, and a buffer holds chunks or is not visible. A retrying output sends by itself. */
export function mayFlush({ flushedAt }: Draining, seen: Seen): boolean {
  if (seen.reach === 'none') return false;
  const { left, unseen } = seen.progress;
  if (heldIn(left).some(({ next }) => next === 'flush')) return true;
  return unseen.length > 0 && (flushedAt === undefined || hasMovedSince(flushedAt, seen));
}

/** When a full buffer may be blocking in_tail or a filter: something is on its way, and nothing has moved for too long. */
function heldUpAt({ progress }: Seen): Millis {
  const { movedAt } = progress;
  return movedAt === undefined || !isLeft(progress, 'unread', 'moving')
    ? Number.POSITIVE_INFINITY
    : movedAt + HELD_UP;
}
