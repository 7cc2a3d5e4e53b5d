import { DEFAULT_TAIL } from '../fluent-conf/facts.ts';
import type { Policy } from './policy.ts';

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
