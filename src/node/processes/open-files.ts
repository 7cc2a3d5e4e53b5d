import { type BigIntStats, statSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { toBytes, unlessItFails } from '../files/files.ts';

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
    let left = most;
    for await (const { name } of await opendir(`/proc/${pid}/fd`, { bufferSize: 1_024 })) {
      if (isOneOf(wanted, `/proc/${pid}/fd/${name}`)) return true;
      left -= 1;
      if (left <= 0) break;
    }
    return false;
  } catch {
    return undefined;
  }
}

function isOneOf(wanted: ReadonlySet<string>, path: string): boolean {
  const found = unlessItFails(() => statSync(path, { bigint: true }));
  return found !== undefined && wanted.has(idOf(found));
}

function idOf({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}
