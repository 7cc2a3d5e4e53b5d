import { DEFAULT_TAIL, type TailFacts } from '../fluent-conf/facts.ts';
import type { Role } from '../look/subject.ts';
import type { Millis } from '../text/units.ts';

/** How posidle decides: the flags, in milliseconds. */
export interface Policy {
  /** Begin to drain when nothing has moved for this long. */
  readonly quiet: Millis | 'off';
  /** How long "everything read" must hold before it is believed. */
  readonly settle: Millis;
  /** How long to wait for what must come first: fluentd, its first entry. */
  readonly startTimeout: Millis | 'off';
  readonly drainTimeout: Millis;
  /** The whole budget, drain and stop, after a stop request by signal. */
  readonly grace: Millis;
  /** From the stop signal to SIGKILL. */
  readonly stopTimeout: Millis;
  readonly tail: TailFacts;
  /** End the unfinished last line of a file, so that Fluentd emits it. */
  readonly completeLastLine: boolean | 'when-main-has-ended';
  readonly doneProcess: boolean;
  /** How long it must have been gone to have ended: the kubelet may start it again. */
  readonly doneProcessGone: Millis;
  readonly role: Role;
  /** Whether the kubelet starts a Fluentd that ended again: the restartPolicy of its Pod or container. */
  readonly restartPolicy: 'never' | 'on-failure' | 'always';
}

export const DEFAULT_POLICY: Policy = {
  quiet: 60_000,
  settle: 2_000,
  startTimeout: 600_000,
  drainTimeout: 300_000,
  grace: 25_000,
  stopTimeout: 120_000,
  tail: DEFAULT_TAIL,
  completeLastLine: 'when-main-has-ended',
  doneProcess: false,
  doneProcessGone: 2_000,
  role: 'beside',
  restartPolicy: 'never',
};

/** in_tail's last read takes up to 5 s (in_tail.rb, SHUTDOWN_TIMEOUT), outputs come after it. */
const STOP_RESERVE: Millis = 10_000;

/** How much of the grace period is kept for the stop itself. */
export function stopReserve(policy: Policy): Millis {
  return Math.min(STOP_RESERVE, policy.grace / 2);
}

export function lookInterval(policy: Policy): Millis {
  const quiet = policy.quiet === 'off' ? RESTING_LOOKS : policy.quiet / 2;
  const most = policy.doneProcess ? RESTING_LOOKS / 4 : RESTING_LOOKS;
  return Math.max(BUSY_LOOKS, Math.min(most, quiet));
}

const RESTING_LOOKS: Millis = 1_000;
/** Once the end has begun, everybody waits: look often. */
export const BUSY_LOOKS: Millis = 100;
