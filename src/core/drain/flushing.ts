import { BLOCKED_AFTER } from '../observe/judge-entry.ts';
import { startEnd } from '../observe/looks.ts';
import type { Observation } from '../observe/observation.ts';
import { progressOf } from '../observe/progress-of.ts';
import { heldIn } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import { isAnyAlive } from '../witness/testimony.ts';
import { isOver, isWorkerStarting, lastFlushAt } from './deadlines.ts';
import { hasBytesLeft } from './gates.ts';
import type { Policy } from './policy.ts';
import type { Draining, Gate } from './state.ts';
import { hasMovedSince } from './trigger.ts';

/** The time between two flushes if chunks are still left. */
const FLUSH_AGAIN: Millis = 10_000;
/** The least time between two flushes: each one makes small chunks and keeps a thread of Fluentd busy for a second or more. */
const FLUSH_PAUSE: Millis = 2_000;
/** in_tail looks at its files once a second, so an input that has not moved for longer is blocked. */
const HELD_UP: Millis = 1_500;

/**
 * When to flush next; undefined if no flush helps. `gate` is the first closed gate. A flush helps if everything is read, if chunks stay,
 * if a full buffer blocks in_tail, and shortly before the deadline.
 */
export function flushAt(state: Draining, gate: Gate, seen: Observation, policy: Policy): Millis | undefined {
  if (!mayFlush(state, seen, policy)) return undefined;
  const last = state.flushedAt ?? Number.NEGATIVE_INFINITY;
  const atTheLatest = lastFlushAt(state.trigger, seen, policy);
  switch (gate.name) {
    case 'flush':
      return seen.at;
    case 'buffers':
      return last + FLUSH_AGAIN;
    case 'unread':
    case 'unfound':
      return Math.max(Math.min(heldUpAt(seen, policy), atTheLatest), last + FLUSH_PAUSE);
    default:
      return Math.max(atTheLatest, last + FLUSH_PAUSE);
  }
}

/** Whether a flush may help: Fluentd is reachable, and a buffer holds chunks or is not visible. A retrying output sends by itself. */
export function mayFlush({ flushedAt }: Draining, seen: Observation, policy: Policy): boolean {
  if (!isReachable(seen, policy)) return false;
  const { left, unseen } = progressOf(seen, policy);
  if (heldIn(left).some(({ next }) => next === 'flush')) return true;
  return unseen.length > 0 && (flushedAt === undefined || hasMovedSince(flushedAt, seen));
}

const TAKES_SIGNALS: ReadonlySet<Observation['fluentd']['kind']> = new Set(['running', 'orphaned']);

/** SIGUSR1 kills a Fluentd that is just starting. A witness passes a flush on only when that is safe. */
function isReachable(seen: Observation, policy: Policy): boolean {
  const { fluentd, witness, started } = seen;
  if (witness !== undefined && isAnyAlive(witness.testimony)) return true;
  if (!TAKES_SIGNALS.has(fluentd.kind) || !started) return false;
  if (fluentd.kind === 'running' && (fluentd.proof === 'none' || isWorkerStarting(seen))) return false;
  return isOver(startEnd(seen, policy), seen.at);
}

/** When a full buffer may be blocking in_tail: its position has not moved for too long. */
function heldUpAt(seen: Observation, { tail }: Policy): Millis {
  if (!hasBytesLeft(seen) || seen.movedAt === undefined) return Number.POSITIVE_INFINITY;
  return seen.movedAt + (tail.readLimit === undefined ? HELD_UP : BLOCKED_AFTER);
}
