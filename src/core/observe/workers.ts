import { type FluentdReading, isSame, type ProcessIdentity } from '../fluentd/processes.ts';
import type { Millis } from '../text/units.ts';

/** What is remembered of the workers. */
export interface WorkerMemory {
  /** All that this supervisor has had. */
  readonly workers: readonly ProcessIdentity[];
  /** Since when the newest worker has been seen. */
  readonly workersSince: Millis | undefined;
  /** Another supervisor, which this one has started to take its place (SIGUSR2 since 1.18). */
  readonly successor: ProcessIdentity | undefined;
  /** Since the look before, a worker or the whole Fluentd has ended by itself, and another one has taken its place. */
  readonly workerReplaced: boolean;
  /** In this look Fluentd was away, or a worker had still to open its files, or another Fluentd had none yet. */
  readonly workerStarting: boolean;
}

export const NO_WORKERS: WorkerMemory = {
  workers: [],
  workersSince: undefined,
  successor: undefined,
  workerReplaced: false,
  workerStarting: false,
};

/** A worker that dies is started again, and what was in its memory is gone; while Fluentd ends none is. */
export function watchWorkers(
  { workers, workersSince, successor, workerStarting }: WorkerMemory,
  fluentd: FluentdReading,
  supervisor: ProcessIdentity | undefined,
  at: Millis,
): WorkerMemory {
  if (fluentd.kind !== 'running')
    return {
      workers,
      workersSince,
      successor,
      workerReplaced: false,
      workerStarting: fluentd.kind === 'absent',
    };
  const isOther = supervisor !== undefined && !isSame(supervisor, fluentd.supervisor);
  const isHandedOver = isOther && successor !== undefined && isSame(successor, fluentd.supervisor);
  const before = isOther ? [] : workers;
  const added = fluentd.workers.filter((worker) => !before.some((known) => isSame(known, worker)));
  const hasNone = before.length + added.length === 0;
  const isTakingOver = isOther ? !isHandedOver : workerStarting && workersSince !== undefined;
  const gone = before.some((known) => !fluentd.workers.some((worker) => isSame(known, worker)));
  return {
    workers: [...before, ...added],
    workersSince: added.length > 0 ? at : workersSince,
    successor: fluentd.successor ?? (isOther ? undefined : successor),
    workerReplaced: (gone && added.length > 0) || (isOther && !isHandedOver),
    workerStarting: fluentd.isStarting === true || (hasNone && isTakingOver),
  };
}

/** A worker that nobody saw answers: it took the place of the ones that were seen, and its supervisor ended before the next look. */
export function hasUnseenOrphan(
  { workers }: Pick<WorkerMemory, 'workers'>,
  fluentd: FluentdReading,
  agents: readonly string[],
): boolean {
  if (fluentd.kind !== 'absent' || workers.length === 0) return false;
  const seen = new Set(workers.map(({ pid }) => pid));
  return agents.some((agent) => !seen.has(Number.parseInt(agent, 10)));
}
