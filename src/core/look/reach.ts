/** Whether Fluentd takes orders now: a signal kills a supervisor or worker that is just starting (supervisor.rb, run_worker). */

import type { Limits } from '../progress/limits.ts';
import type { Seen } from '../progress/seen.ts';
import type { Millis } from '../text/units.ts';
import { isAnyAlive } from '../witness/reports.ts';
import { type Facts, startEnd } from './progress-from-files.ts';

/** How long a worker may take to load its configuration and plugins, and to open its pos file. */
const SLOW_WORKER: Millis = 60_000;

/** A witness passes a flush on only when that is safe. */
export function reachOf(seen: Facts, limits: Limits): Seen['reach'] {
  const { fluentd, reports, started, at } = seen;
  if (reports !== undefined && isAnyAlive(reports)) return 'witness';
  const isUp = fluentd.kind === 'running' && fluentd.proof === 'own';
  const isSafe = started && workersOf(seen) !== 'starting' && at >= startEnd(seen, limits);
  return isUp && isSafe ? 'signal' : 'none';
}

/**
 * The wait for a pos file ends when as many witnesses answer as workers run: each one says itself whether its worker has started. It is
 * bounded: a worker may never open that pos file (it may be another Fluentd's).
 */
export function workersOf({ fluentd, memory, at, reports, began }: Facts): Seen['workers'] {
  if (fluentd.kind === 'wrapper') return memory.supervisor === undefined ? 'up' : 'gone';
  if (fluentd.kind !== 'running') return 'up';
  const isNew = at < (memory.workersSince ?? began) + SLOW_WORKER;
  const answered = reports?.witnesses.filter(({ kind }) => kind === 'alive').length ?? 0;
  if (fluentd.isStarting === true && isNew && answered < fluentd.workers.length) return 'starting';
  return fluentd.workers.length === 0 && memory.workersSince !== undefined ? 'gone' : 'up';
}
