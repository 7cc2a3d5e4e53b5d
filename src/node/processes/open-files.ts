import { opendirSync, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { toBytes } from '../files/files.ts';

/** The most files to check, in the order of opening: a process may hold a million open. Fluentd opens its pos file before its logs. */
const MOST_FILES = 20_000;

/** Whether a process holds one of these files open. Undefined without permission: it takes the same user or CAP_SYS_PTRACE. */
export async function holdsOpen(
  pid: number,
  paths: readonly string[],
  most = MOST_FILES,
): Promise<boolean | undefined> {
  // A process that only calls itself fluentd may hold very many files open.
  await nextTurn();
  const wanted = new Set(paths.map(fileAt));
  wanted.delete(undefined);
  try {
    const names = opendirSync(`/proc/${pid}/fd`, { bufferSize: 1_024 });
    try {
      for (let left = most; left > 0; left -= 1) {
        const name = names.readSync()?.name;
        if (name === undefined) return false;
        if (wanted.has(fileAt(`/proc/${pid}/fd/${name}`))) return true;
      }
      return false;
    } finally {
      names.closeSync();
    }
  } catch {
    return undefined;
  }
}

function fileAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(toBytes(path), { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}
