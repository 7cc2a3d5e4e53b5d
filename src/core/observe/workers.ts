import { type FluentdReading, isSame, type ProcessIdentity } from '../fluentd/processes.ts';

/** What is remembered of the workers. */
export interface WorkerMemory {
  /** All that this supervisor has had. */
  readonly workers: readonly ProcessIdentity[];
  /** One has ended, and another one runs in its place. */
  readonly workerReplaced: boolean;
}

export const NO_WORKERS: WorkerMemory = { workers: [], workerReplaced: false };

/** A worker that dies is started again, and what was in its memory is gone; while Fluentd ends none is. */
export function watchWorkers(
  { workers, workerReplaced }: WorkerMemory,
  fluentd: FluentdReading,
  supervisor: ProcessIdentity | undefined,
): WorkerMemory {
  if (fluentd.kind !== 'running') return { workers, workerReplaced };
  const isOther = supervisor === undefined || !isSame(supervisor, fluentd.supervisor);
  const before = isOther ? [] : workers;
  const added = fluentd.workers.filter((worker) => !before.some((known) => isSame(known, worker)));
  const gone = before.some((known) => !fluentd.workers.some((worker) => isSame(known, worker)));
  return { workers: [...before, ...added], workerReplaced: workerReplaced || (gone && added.length > 0) };
}
