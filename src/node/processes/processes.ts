import type { ProcessIdentity, ProcessRow } from '../../core/fluentd/processes.ts';
import { Proc } from './proc.ts';
import { send } from './send.ts';

/** The process table: /proc on Linux, the `ps` command where there is none (a developer's macOS). */
export interface ProcessTable {
  list(): Promise<readonly ProcessRow[]>;
  listFamily(pid: number): Promise<readonly ProcessRow[]>;
  read(pid: number): Promise<ProcessRow | undefined>;
}

export function openProcessTable(): ProcessTable {
  const proc = new Proc();
  if (!proc.isThere()) return { list: listByPs, listFamily: listByPs, read: readByPs };
  return {
    list: () => proc.list(),
    listFamily: async (pid) => proc.family(pid) ?? proc.list(),
    read: async (pid) => proc.read(pid),
  };
}

/** Whether the kernel would let this process signal that one. */
export function maySignal(pid: number): boolean {
  return send(pid, 0) !== 'not-permitted';
}

/** Sends only where the pid still is the very same process, looked at right before. */
export async function signalProcess(
  table: ProcessTable,
  target: ProcessIdentity,
  signal: string,
): Promise<'sent' | 'gone' | 'not-permitted'> {
  const row = await table.read(target.pid);
  if (row === undefined || row.zombie || row.startTime !== target.startTime) return 'gone';
  return send(target.pid, signal as NodeJS.Signals);
}

/** ps knows neither zombies nor start ticks, and puts the words of a command line into one string. */
async function listByPs(): Promise<readonly ProcessRow[]> {
  const { default: psList } = await import('ps-list');
  const rows = await psList();
  return rows.map(({ pid, ppid, cmd, name, startTime }) => ({
    pid,
    ppid,
    session: 0,
    startTime: startTime?.toISOString() ?? '',
    zombie: /<defunct>/.test(cmd ?? ''),
    argv: (cmd ?? name).split(' '),
  }));
}

async function readByPs(pid: number): Promise<ProcessRow | undefined> {
  return (await listByPs()).find((row) => row.pid === pid);
}
