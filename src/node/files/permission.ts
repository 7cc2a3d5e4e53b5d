import { accessSync, constants, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { toBytes } from './files.ts';

/** Who a process is to the file system (proc(5), /proc/pid/status). */
interface Credentials {
  readonly uid: number;
  readonly groups: readonly number[];
  /** CAP_DAC_OVERRIDE or CAP_DAC_READ_SEARCH: no mode keeps it from reading. */
  readonly readsAll: boolean;
}

const READ = 4;
const SEARCH = 1;
const DAC_OVERRIDE_OR_READ_SEARCH = 0b110n;

/**
 * Whether a process may read a file, by the modes of the file and of the directories above it. `pid` undefined: the process cannot be
 * seen, and what this process may not read counts as closed. Undefined: not known.
 */
export function mayRead(path: string, pid: number | undefined): boolean | undefined {
  const who = pid === undefined ? undefined : credentialsOf(pid);
  if (who === undefined) return isClosedToUs(path) ? false : undefined;
  if (who.readsAll) return true;
  try {
    for (let at = dirname(path); ; at = dirname(at)) {
      if (!isAllowed(statSync(toBytes(at)), who, SEARCH)) return false;
      if (at === dirname(at)) return isAllowed(statSync(toBytes(path)), who, READ);
    }
  } catch {
    return undefined;
  }
}

function isClosedToUs(path: string): boolean {
  try {
    accessSync(toBytes(path), constants.R_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

function isAllowed({ mode, uid, gid }: Stats, who: Credentials, bit: number): boolean {
  if (uid === who.uid) return (mode & (bit << 6)) !== 0;
  return (mode & (who.groups.includes(gid) ? bit << 3 : bit)) !== 0;
}

function credentialsOf(pid: number): Credentials | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const numbers = (name: string) =>
      (new RegExp(`^${name}:\\t(.*)$`, 'm').exec(status)?.[1] ?? '').trim().split(/\s+/);
    // The second number is the effective one.
    const [uid, gid] = ['Uid', 'Gid'].map((name) => Number(numbers(name)[1]));
    const capabilities = BigInt(`0x${numbers('CapEff')[0]}`);
    if (uid === undefined || gid === undefined) return undefined;
    const groups = [gid, ...numbers('Groups').map(Number)];
    return { uid, groups, readsAll: (capabilities & DAC_OVERRIDE_OR_READ_SEARCH) !== 0n };
  } catch {
    return undefined;
  }
}
