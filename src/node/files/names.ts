import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import { roomIn, toBytes } from './files.ts';

/** A directory may hold millions: no look reads more than these. */
const MOST_NAMES = 100_000;
/** Names are read in batches; between two of them the process does other things. */
const BATCH = 1_024;
/** What is kept of a name, beside two bytes for each character of its path. */
const NAME_MEMORY = 100;

/** How many names one look may still read, in all of its directories, and how much memory those that it keeps may still take. */
export interface NameBudget {
  readonly most: number;
  left: number;
  bytes: number;
}

export function nameBudget(most = MOST_NAMES, bytes = roomIn() / 2): NameBudget {
  return { most, left: most, bytes };
}

/** The names of a directory and what they stand for, in no order; the empty path is the working directory. `take`: whether it is kept. */
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
      throw new Error(`its names take more memory than the limit has room for, in ${directory || '.'}`);
  }
}

/** Latin-1 keeps each byte as it is, and costs half the time of a Buffer for each name. */
function nameOf({ name }: Dirent): string {
  return /^[\0-\x7f]*$/.test(name) ? name : decodePath(Buffer.from(name, 'latin1'));
}
