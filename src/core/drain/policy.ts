import { DEFAULT_TAIL, type Limits } from '../progress/limits.ts';
import type { Millis } from '../text/units.ts';

/** The settings of all decisions. Times are in milliseconds. */
export interface Policy extends Limits {
  /** Begin to drain when nothing has moved for this long. */
  readonly quiet: Millis | 'off';
  /** How long to wait for Fluentd and its first pos file entry. */
  readonly startTimeout: Millis | 'off';
  readonly drainTimeout: Millis;
  /** The time for drain and stop together, after a signal from the kubelet. */
  readonly grace: Millis;
  /** From the stop signal to SIGKILL. */
  readonly stopTimeout: Millis;
  /** Main makes a file when it has ended. */
  readonly hasDoneFile: boolean;
  readonly doneProcess: boolean;
  /** How long main's process must be gone before it counts as ended, because the kubelet may restart it. */
  readonly doneProcessGone: Millis;
  /** The kubelet ends the Pod, and stops Fluentd after posidle. */
  readonly podEnds: boolean;
}

export const DEFAULT_POLICY = {
  quiet: 60_000,
  settle: 2_000,
  startTimeout: 600_000,
  drainTimeout: 300_000,
  grace: 25_000,
  stopTimeout: 120_000,
  tail: DEFAULT_TAIL,
  hasDoneFile: false,
  doneProcess: false,
  doneProcessGone: 2_000,
  role: 'beside',
  podEnds: false,
} as const satisfies Policy;

/** in_tail's last read takes up to 5 s (in_tail.rb, SHUTDOWN_TIMEOUT). Outputs flush after it. */
const STOP_RESERVE: Millis = 10_000;
/** The kubelet gives each sidecar 2 s, even after the grace period (KEP-753). */
export const KUBELET_RESERVE: Millis = 2_000;

/** The part of the grace period that is reserved for the stop. */
export function stopReserve({ podEnds, grace }: Pick<Policy, 'podEnds' | 'grace'>): Millis {
  return Math.min(podEnds ? KUBELET_RESERVE : STOP_RESERVE, grace / 2);
}

/** The longest time between two looks while posidle waits or watches. */
export function lookInterval({ doneProcess }: Policy): Millis {
  return doneProcess ? RESTING_LOOKS / 4 : RESTING_LOOKS;
}

const RESTING_LOOKS: Millis = 1_000;
/** While draining and stopping. */
export const BUSY_LOOKS: Millis = 100;
