import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import { roomIn, toBytes } from './files.ts';

/** One look reads at most this many names: a directory may have millions. */
const MOST_NAMES = 100_000;
/** The process can do other work between two batches. */
const BATCH = 1_024;
/** The memory for a name, in addition to two bytes for each character of its path. */
const NAME_MEMORY = 100;

/** The number of names that a look may still read, and the memory that the kept ones may still take. */
export interface NameBudget {
  readonly most: number;
  left: number;
  bytes: number;
}

export function nameBudget(most = MOST_NAMES, bytes = roomIn() / 2): NameBudget {
  return { most, left: most, bytes };
}

/** Reads the names of a directory, in no order. An empty path is the working directory. `take` says whether it keeps a name. */
export async function readNames(
  directory: string,
  budget: NameBudget,
  take: (name: string, entry: Dirent) => boolean,
): Promise<void> {
  const names = await opendir(toBytes(directory || '.'), { encoding: 'latin1', bufferSize: BATCH });
  for await (const entry of names) {
    budget.left -= 1;
    if (budget.left < 0) throw new Error(`more than ${budget.most} names to look at, in ${directory || '.'}`);
    const name = nameOf(entry);
    if (take(name, entry)) budget.bytes -= NAME_MEMORY + 2 * (directory.length + name.length);
    if (budget.bytes < 0)
      throw new Error(`its names need more memory than the limit allows, in ${directory || '.'}`);
  }
}

/** Latin-1 keeps every byte, and takes half the time of a Buffer for each name. */
function nameOf({ name }: Dirent): string {
  return /^[\0-\x7f]*$/.test(name) ? name : decodePath(Buffer.from(name, 'latin1'));
}
