import { readdirSync, statSync } from 'node:fs';
import psList from 'ps-list';
import type { ProcessIdentity, ProcessRow } from '../../core/fluentd/processes.ts';
import { Proc } from './proc.ts';

/** The process table: /proc on Linux, the `ps` command where there is none (a developer's macOS). */
export interface ProcessTable {
  list(): Promise<readonly ProcessRow[]>;
  read(pid: number): Promise<ProcessRow | undefined>;
}

export function openProcessTable(): ProcessTable {
  const proc = new Proc();
  if (!proc.isThere()) return { list: listByPs, read: readByPs };
  return { list: async () => proc.list(), read: async (pid) => proc.read(pid) };
}

/** Whether the kernel would let this process signal that one. */
export function maySignal(pid: number): boolean {
  return send(pid, 0) !== 'not-permitted';
}

/** Looks at the open files of a process (proc(5), /proc/pid/fd): that takes the same user, or CAP_SYS_PTRACE. */
export function holdsOpen(pid: number, paths: readonly string[]): boolean | undefined {
  const wanted = new Set(paths.flatMap((path) => fileAt(path) ?? []));
  try {
    const open = readdirSync(`/proc/${pid}/fd`).map((fd) => fileAt(`/proc/${pid}/fd/${fd}`));
    return open.some((file) => file !== undefined && wanted.has(file));
  } catch {
    return undefined;
  }
}

function fileAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
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

function send(pid: number, signal: NodeJS.Signals | 0): 'sent' | 'gone' | 'not-permitted' {
  try {
    process.kill(pid, signal);
    return 'sent';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'not-permitted' : 'gone';
  }
}

/** ps knows neither zombies nor start ticks, and puts the words of a command line into one string. */
async function listByPs(): Promise<readonly ProcessRow[]> {
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
