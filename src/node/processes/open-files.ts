import { type BigIntStats, lstatSync, opendirSync, statSync } from 'node:fs';
import type { OpenFile, OpenFiles } from '../../host.ts';
import { bornAt, toBytes } from '../files/files.ts';
import { directoriesBeside } from '../files/log-files.ts';

/** A process may hold a million files open: so many are looked at. Fluentd follows fewer. */
const MOST_FILES = 60_000;
/** And so many for a pos file, which Fluentd opens before its logs. */
const MOST_BEFORE = 20_000;

interface Held extends OpenFile {
  readonly device: bigint;
}

interface Open {
  readonly files: ReadonlyMap<string, readonly Held[]>;
  /** Every open file of every process was looked at. */
  readonly isWhole: boolean;
}

/**
 * The files that processes hold open (proc(5), /proc/pid/fd), read once when they are asked for. A deleted file lives on there, as long as
 * it is open. Two volumes may give their files the same inode numbers.
 */
export function openFiles(pids: readonly number[]): OpenFiles {
  let held: Open | undefined;
  return (path, inode) => {
    held ??= heldBy(pids);
    const files = held.files.get(inode) ?? [];
    const devices = files.length === 0 ? undefined : devicesAt(path, pids);
    const mayBe = ({ device }: Held) => devices?.size === 0 || devices?.has(device);
    const found = files.find((file) => mayBe(file) && isOnlyRead(file.path));
    return found ?? (held.isWhole ? null : undefined);
  };
}

/** Whether a process holds one of these files open; undefined: its open files may not be looked at. */
export function holdsOpen(pid: number, paths: readonly string[], most = MOST_BEFORE): boolean | undefined {
  const wanted = new Set(paths.map(fileAt));
  return openPathsOf(pid, most)?.some((path) => {
    const file = fileAt(path);
    return file !== undefined && wanted.has(file);
  });
}

function heldBy(pids: readonly number[]): Open {
  const held = new Map<string, Held[]>();
  const lists = pids.map((pid) => openPathsOf(pid, MOST_FILES));
  const isWhole = pids.length > 0 && lists.every((list) => list !== undefined && list.length < MOST_FILES);
  for (const path of lists.flatMap((list) => list ?? [])) {
    const stat = statOf(path);
    if (!stat?.isFile()) continue;
    const inode = String(stat.ino);
    const file = { path, stat: { inode, size: Number(stat.size), born: bornAt(stat) }, device: stat.dev };
    held.set(inode, [...(held.get(inode) ?? []), file]);
  }
  return { files: held, isWhole };
}

/** in_tail only reads its files. A chunk of a buffer, which may get the inode of a log, is written, too: the link tells (proc(5), /proc/pid/fd). */
function isOnlyRead(path: string): boolean {
  return (modeOf(path) & 0o200) === 0;
}

function modeOf(path: string): number {
  try {
    return lstatSync(path).mode;
  } catch {
    return 0;
  }
}

/** Where a log may lie, for us and for the processes themselves: their mounts may be others. Empty: nobody knows. */
function devicesAt(path: string, pids: readonly number[]): ReadonlySet<bigint> {
  const places = [path, ...pids.map((pid) => `/proc/${pid}/root${path}`)];
  const near = places.flatMap((place) => [place, ...directoriesBeside(place)]);
  return new Set(near.flatMap((place) => statOf(place)?.dev ?? []));
}

/** Looking takes the same user, or CAP_SYS_PTRACE. */
function openPathsOf(pid: number, most: number): readonly string[] | undefined {
  try {
    return firstNames(`/proc/${pid}/fd`, most).map((fd) => `/proc/${pid}/fd/${fd}`);
  } catch {
    return undefined;
  }
}

/** In the order in which the process has opened them. */
function firstNames(directory: string, most: number): readonly string[] {
  const entries = opendirSync(directory, { bufferSize: 1_024 });
  try {
    const names: string[] = [];
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
      names.push(entry.name);
      if (names.length === most) break;
    }
    return names;
  } finally {
    entries.closeSync();
  }
}

function fileAt(path: string): string | undefined {
  const stat = statOf(path);
  return stat && `${stat.dev} ${stat.ino}`;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(toBytes(path), { bigint: true });
  } catch {
    return undefined;
  }
}
