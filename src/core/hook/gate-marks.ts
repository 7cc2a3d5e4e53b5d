/** A preStop hook in Fluentd's container begins while main may still write. The gate, a sidecar after Fluentd, says when main has ended. */
import type { Outcome } from '../drain/outcome.ts';
import type { Millis } from '../text/units.ts';

/** The marks that docker/image/gate has written, with their times. One clock made all times. */
export interface GateMarks {
  readonly hookAt: Millis;
  /** The gate has started, so main may have started. */
  readonly isUp: boolean;
  /** The whole Pod ends, not only Fluentd's container. */
  readonly endingAt: Millis | undefined;
  readonly mainEndedAt: Millis | undefined;
  readonly lives: boolean;
}

export type GateWord = 'wait' | 'main-ended' | 'only-fluentd' | 'main-may-run';

/** The kubelet begins all hooks of a Pod within 0.1 s, later on a busy node. A mark that is older than this is from another restart. */
const BUSY_NODE: Millis = 30_000;
/** How long the hook waits for the gate's mark that the whole Pod ends. */
const ENDING_WITHIN: Millis = 3_000;

/** The hook's decision. It waits for main at most `patience`, because the drain needs the rest of the grace period. */
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

/** Whether the outcome may improve when Fluentd stops: it then sends the records that it keeps, and what its buffers hold. */
export function mayStopHelp({ left, doubts }: Outcome): boolean {
  const isCut = doubts.count > doubts.worst.length;
  return left.count > 0 || isCut || doubts.worst.some(({ kind }) => kind === 'kept');
}
