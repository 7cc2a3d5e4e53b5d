import { type BigIntStats, readdirSync, statSync } from 'node:fs';
import psList from 'ps-list';
import type { ProcessIdentity, ProcessRow } from '../../core/fluentd/processes.ts';
import type { FileStat } from '../../core/look/snapshot.ts';
import { Proc } from './proc.ts';
import { send } from './send.ts';

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

/** A deleted file lives on below /proc/pid/fd as long as it is open (proc(5)). */
export function findOpen(pid: number, inode: string): { path: string; stat: FileStat } | undefined {
  for (const path of openFilesOf(pid) ?? []) {
    const stat = statOf(path);
    if (stat?.isFile() && String(stat.ino) === inode)
      return { path, stat: { inode, size: Number(stat.size) } };
  }
  return undefined;
}

/** Looks at the open files of a process (proc(5), /proc/pid/fd): that takes the same user, or CAP_SYS_PTRACE. */
export function holdsOpen(pid: number, paths: readonly string[]): boolean | undefined {
  const wanted = new Set(paths.map(fileAt));
  return openFilesOf(pid)?.some((path) => {
    const file = fileAt(path);
    return file !== undefined && wanted.has(file);
  });
}

function openFilesOf(pid: number): readonly string[] | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  } catch {
    return undefined;
  }
}

function fileAt(path: string): string | undefined {
  const stat = statOf(path);
  return stat && `${stat.dev} ${stat.ino}`;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
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
