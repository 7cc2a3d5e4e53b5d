import {
  type FluentdReading,
  findSuccessor,
  findWorkers,
  identityOf,
  isSame,
  type ProcessIdentity,
  type ProcessRow,
} from './processes.ts';

type Table = readonly ProcessRow[];
export type Running = Extract<FluentdReading, { kind: 'running' }>;

/** The supervisor that was there before. */
export function lastOf(known: FluentdReading | undefined): ProcessIdentity | undefined {
  if (known?.kind === 'running') return known.supervisor;
  return known?.kind === 'absent' ? known.last : undefined;
}

/** The same supervisor, with the workers that it has now. */
export function stillRunning(table: Table, known: FluentdReading): Running | undefined {
  if (known.kind !== 'running' || !isAlive(table, known.supervisor)) return undefined;
  const { successor: before, ...rest } = known;
  const { pid } = known.supervisor;
  const successor = findSuccessor(table, pid, before);
  const workers = findWorkers(table, pid).map(identityOf);
  return { ...rest, workers, ...(successor && { successor: identityOf(successor) }) };
}

export function haveSameProcesses(now: Running, before: Running): boolean {
  return (
    now.workers.length === before.workers.length &&
    now.workers.every((worker) => before.workers.some((known) => isSame(worker, known))) &&
    now.successor?.pid === before.successor?.pid
  );
}

export function isAlive(table: Table, identity: ProcessIdentity): boolean {
  return table.some((row) => isSame(row, identity) && !row.zombie);
}

/** Another container's processes show only in a shared PID namespace. */
export const NOBODY_THERE =
  'posidle sees no process of fluentd: one in another container needs a witness (`posidle witness` shows how), or shareProcessNamespace in the Pod';
