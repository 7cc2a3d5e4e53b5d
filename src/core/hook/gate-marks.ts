/** A preStop hook in Fluentd's container begins while main may still write. The gate, a sidecar behind Fluentd, says when main has ended. */
import type { Outcome } from '../drain/outcome.ts';
import type { Millis } from '../text/units.ts';

/** What docker/image/gate has written, and when, by one clock. */
export interface GateMarks {
  readonly hookAt: Millis;
  /** Main may run, or has run. */
  readonly isUp: boolean;
  /** The Pod ends, and not Fluentd's container alone. */
  readonly endingAt: Millis | undefined;
  readonly mainEndedAt: Millis | undefined;
  readonly lives: boolean;
}

export type GateWord = 'wait' | 'main-ended' | 'only-fluentd' | 'main-may-run';

/** The kubelet begins the hooks of a Pod within 0.1 s; an older mark is of another time, unless the node is busy. */
const BUSY_NODE: Millis = 30_000;
/** How long the gate may take to say that the whole Pod ends. */
const ENDING_WITHIN: Millis = 3_000;

/** What the hook may conclude now. It waits for main no longer than `patience`: the rest of the grace period is for the drain. */
export function gateWord(
  { hookAt, isUp, endingAt, mainEndedAt, lives }: GateMarks,
  now: Millis,
  patience: Millis,
): GateWord {
  if (!isUp) return 'main-may-run';
  if (endingAt === undefined || endingAt < hookAt - BUSY_NODE) {
    if (now < hookAt + ENDING_WITHIN) return 'wait';
    return lives ? 'only-fluentd' : 'main-may-run';
  }
  if (mainEndedAt !== undefined && mainEndedAt >= endingAt) return 'main-ended';
  return lives && now < hookAt + patience ? 'wait' : 'main-may-run';
}

/** Fluentd sends at its stop what it keeps outside its buffers, and what they hold: its last word tells. */
export function mayStopHelp({ left, doubts }: Outcome): boolean {
  const isCut = doubts.count > doubts.worst.length;
  return left.count > 0 || isCut || doubts.worst.some(({ kind }) => kind === 'kept');
}
