import { accessSync, constants, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { inPortions, toBytes } from './files.ts';

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

type Reader = (path: string) => boolean | undefined;

export async function mayRead(
  pid: number | undefined,
  paths: readonly string[],
): Promise<ReadonlyMap<string, boolean | undefined>> {
  const reader = readerOf(pid);
  const answers = new Map<string, boolean | undefined>();
  await inPortions(paths, (path) => answers.set(path, reader(path)));
  return answers;
}

/**
 * What a process may read, by the modes of the file and of the directories above it; each directory is looked at once. `pid` undefined: the
 * process cannot be seen, and what this process may not read counts as closed.
 */
function readerOf(pid: number | undefined): Reader {
  const who = pid === undefined ? undefined : credentialsOf(pid);
  if (who === undefined) return (path) => (isClosedToUs(path) ? false : undefined);
  if (who.readsAll) return () => true;
  const known = new Map<string, boolean>();
  const maySearch = (directory: string): boolean => {
    const isOpen =
      known.get(directory) ??
      (isAllowed(statSync(toBytes(directory)), who, SEARCH) &&
        (directory === dirname(directory) || maySearch(dirname(directory))));
    known.set(directory, isOpen);
    return isOpen;
  };
  return (path) => {
    try {
      return maySearch(dirname(path)) && isAllowed(statSync(toBytes(path)), who, READ);
    } catch {
      return undefined;
    }
  };
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
