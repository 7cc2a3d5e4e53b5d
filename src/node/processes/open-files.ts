import { type BigIntStats, opendirSync, statSync } from 'node:fs';
import { toBytes } from '../files/files.ts';

/** A process may hold a million files open: so many are looked at. Fluentd opens its pos file before its logs. */
const MOST_FILES = 20_000;

/** Whether a process holds one of these files open; undefined: its open files may not be looked at. */
export function holdsOpen(pid: number, paths: readonly string[], most = MOST_FILES): boolean | undefined {
  const wanted = new Set(paths.map(fileAt));
  return openPathsOf(pid, most)?.some((path) => {
    const file = fileAt(path);
    return file !== undefined && wanted.has(file);
  });
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
