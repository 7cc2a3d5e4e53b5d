import { type BigIntStats, opendirSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { toBytes } from '../files/files.ts';

/** The most files to check, in the order of opening: a process may hold a million open. Fluentd opens its pos file before its logs. */
const MOST_FILES = 20_000;

/** Whether a process holds one of these files open. Undefined without permission: it takes the same user or CAP_SYS_PTRACE. */
export async function holdsOpen(
  pid: number,
  paths: readonly string[],
  most = MOST_FILES,
): Promise<boolean | undefined> {
  // Not synchronous: a dead mount would block everything.
  const stats = await Promise.all(
    paths.map((path) => stat(toBytes(path), { bigint: true }).catch(() => undefined)),
  );
  const wanted = new Set(stats.flatMap((found) => (found === undefined ? [] : idOf(found))));
  try {
    const names = opendirSync(`/proc/${pid}/fd`, { bufferSize: 1_024 });
    try {
      for (let left = most; left > 0; left -= 1) {
        const name = names.readSync()?.name;
        if (name === undefined) return false;
        if (isOneOf(wanted, `/proc/${pid}/fd/${name}`)) return true;
      }
      return false;
    } finally {
      names.closeSync();
    }
  } catch {
    return undefined;
  }
}

function isOneOf(wanted: ReadonlySet<string>, path: string): boolean {
  try {
    return wanted.has(idOf(statSync(path, { bigint: true })));
  } catch {
    return false;
  }
}

function idOf({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}
