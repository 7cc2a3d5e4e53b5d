import { heldBy } from '../fluentd/buffer-contents.ts';
import { BLOCKED_AFTER } from '../observe/judge-entry.ts';
import type { Observation } from '../observe/observation.ts';
import { isRefusing } from '../observe/output-ledger.ts';
import type { Millis } from '../text/units.ts';
import { isOver, isWorkerStarting, lastFlushAt, startEnd } from './deadlines.ts';
import { bufferGate, hasBytesLeft, isDeaf } from './gates.ts';
import type { Policy } from './policy.ts';
import type { Draining, Gate } from './state.ts';
import { isWitnessed, mayFlushWitnessed } from './witness-gate.ts';

/** How long a flush is given before it is asked for again, where chunks are still left. */
const FLUSH_AGAIN: Millis = 10_000;
/** The least time between two flushes: each makes small chunks, and keeps a thread of Fluentd busy for a second or more. */
const FLUSH_PAUSE: Millis = 2_000;
/** in_tail looks at its files once a second: an input that has stood still for longer is held up. */
const HELD_UP: Millis = 1_500;
/** A buffer with less room than this, in percent, does not take what in_tail has read. */
const FULL = 5;

/**
 * When the next flush would help; undefined: none would. `gate` is the first closed one. A flush helps once everything is read, again where
 * chunks stay, where a full buffer holds up in_tail, and shortly before the deadline.
 */
export function flushAt(state: Draining, gate: Gate, seen: Observation, policy: Policy): Millis | undefined {
  if (!mayFlush(state, seen, policy)) return undefined;
  const last = state.flush?.at ?? Number.NEGATIVE_INFINITY;
  switch (gate.name) {
    case 'flush':
      return seen.at;
    case 'buffers':
      return last + FLUSH_AGAIN;
    // A full buffer may hold up the rest of a renamed file.
    case 'settle':
      if (isRefusing(seen.memory.ledger)) return last + FLUSH_PAUSE;
      break;
    case 'unread':
    case 'undiscovered':
      return earliest(heldUpAt(seen, policy), lastFlushAt(state.trigger, seen, policy), last + FLUSH_PAUSE);
  }
  return Math.max(lastFlushAt(state.trigger, seen, policy), last + FLUSH_PAUSE);
}

const CAN_FLUSH: ReadonlySet<Observation['fluentd']['kind']> = new Set(['running', 'orphaned', 'remote']);

/** Whether Fluentd has buffers, and is up to flush them. A Fluentd that has just been started dies of SIGUSR1. */
export function mayFlush({ flush }: Draining, seen: Observation, policy: Policy): boolean {
  const { fluentd, buffers } = seen;
  if (isWitnessed(seen)) return !policy.dryRun && mayFlushWitnessed(seen);
  if (policy.dryRun || buffers?.none === true || !seen.started || isDeaf(seen)) return false;
  if (!CAN_FLUSH.has(fluentd.kind) || isAgentAway(seen)) return false;
  if (fluentd.kind === 'running' && (!fluentd.isProven || isWorkerStarting(seen))) return false;
  return isOver(startEnd(seen, policy), seen.at) && (hasMovedSince(flush?.at, seen) || mayHoldChunks(seen));
}

/** A monitor_agent that answered before tells nothing now: its worker is starting anew. */
function isAgentAway({ buffers, memory }: Observation): boolean {
  if (buffers === undefined || !buffers.asked) return false;
  return buffers.outputs.some(({ key, told }) => told === undefined && memory.ledger.accounts.has(key));
}

function hasMovedSince(at: Millis | undefined, { movedAt }: Observation): boolean {
  return at === undefined || (movedAt !== undefined && movedAt > at);
}

/** Some output holds chunks that a flush would send, or cannot be seen. One that retries does not mind a flush. */
function mayHoldChunks({ buffers }: Observation): boolean {
  if (buffers === undefined) return false;
  const isHelped = buffers.outputs.some(
    (output) => output.told?.retrying !== true && (heldBy(output).chunks > 0 || isUnseen(output)),
  );
  return isHelped || buffers.hidden.length > 0;
}

/** Every buffer is seen, and empty. */
export function holdsNothing(seen: Observation): boolean {
  return bufferGate(seen, undefined) === undefined && !mayHoldChunks(seen);
}

function isUnseen({ told, onDisk }: { told: unknown; onDisk: unknown }): boolean {
  return told === undefined && onDisk === undefined;
}

/** When a full buffer holds in_tail up: at once where that is told, else once it has stood still for too long; undefined: it does not. */
function heldUpAt(seen: Observation, { tail }: Policy): Millis | undefined {
  if (!hasBytesLeft(seen) || seen.movedAt === undefined) return undefined;
  if (isWitnessed(seen)) return seen.movedAt + HELD_UP;
  if (!mayHoldChunks(seen)) return undefined;
  const told = (seen.buffers?.outputs ?? []).flatMap((output) => output.told ?? []);
  const isFull = told.some(({ space }) => space <= FULL);
  const isKnown = told.length === seen.buffers?.outputs.length && seen.buffers.hidden.length === 0;
  if (isFull) return seen.at;
  return isKnown ? undefined : seen.movedAt + (tail.readLimit === undefined ? HELD_UP : BLOCKED_AFTER);
}

function earliest(heldUp: Millis | undefined, lastFlush: Millis, pauseEnd: Millis): Millis {
  return Math.max(heldUp === undefined ? lastFlush : Math.min(heldUp, lastFlush), pauseEnd);
}
