/** What calls for the end, and what takes that back. */
import type { Observation } from '../observe/observation.ts';
import type { Millis } from '../text/units.ts';
import { isOver, mainEndAt } from './deadlines.ts';
import type { Policy } from './policy.ts';
import type { Trigger } from './state.ts';

/** Certain ends: a call from outside, or main's process that is gone. */
export function requestedBy(seen: Observation, policy: Policy): Trigger | undefined {
  return seen.requests[0] ?? mainEndedBy(seen, policy);
}

function mainEndedBy(seen: Observation, policy: Policy): Trigger | undefined {
  if (!policy.doneProcess) return undefined;
  return isOver(mainEndAt(seen, policy), seen.at) ? { by: 'done-process', at: seen.at } : undefined;
}

/** The kubelet started a main that failed again. */
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
export function completesLines({ by }: Trigger, { completeLastLine, leavesStop }: Policy): boolean {
  if (completeLastLine !== 'when-main-has-ended') return completeLastLine;
  // The kubelet sends SIGTERM to a native sidecar when main has ended (KEP-753).
  return MAIN_HAS_ENDED.has(by) || (leavesStop && by === 'SIGTERM');
}

const MAIN_HAS_ENDED: ReadonlySet<Trigger['by']> = new Set(['done-process', 'done-file', 'main-ended']);
