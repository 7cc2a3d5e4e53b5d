import { lstatSync, type Stats, statSync } from 'node:fs';
import type { FileStat } from '../../core/look/snapshot.ts';
import { COARSEST_TICK } from '../../core/look/snapshot.ts';
import type { Millis } from '../../core/text/units.ts';
import { inPortions, toBytes } from './files.ts';
import { nameBudget, readNames } from './names.ts';

/** A listing is good for ten times as long as it took to make, but not for long. */
const WORTH = 10;
const LISTING_AGE: Millis = 1_000;
/** So many files and directories are remembered. */
const MOST_KNOWN = 10_000;

export interface RenamedFile {
  readonly path: string;
  readonly stat: FileStat;
}

/** Finds files by their inodes in the directories where they were renamed. */
export class RenamedFiles {
  readonly #listings = new Map<string, Listing>();
  /** Where files were found: as long as they stay there, no directory is listed for them. */
  readonly #places = new Map<string, string>();
  /** What a directory did not hold when it had this date. */
  readonly #absent = new Map<string, { readonly date: string; readonly inodes: Set<string> }>();

  /** A look begins. */
  begin(): void {
    const now = performance.now();
    for (const [directory, { goodUntil }] of this.#listings)
      if (goodUntil < now) this.#listings.delete(directory);
    for (const known of [this.#places, this.#absent]) if (known.size > MOST_KNOWN) known.clear();
  }

  /** The directory, empty or with its slash, is known not to be there. */
  hasNo(directory: string): boolean {
    return this.#listings.size > 0 && this.#listings.get(directory)?.isAbsent === true;
  }

  /** A promise: the directory is being listed, ask again. An Error: nobody can tell. */
  find(inode: string, directory: string): RenamedFile | Error | undefined | Promise<void> {
    const key = `${directory}\t${inode}`;
    const found = fileWith(inode, this.#places.get(key));
    if (found !== undefined) return found;
    this.#places.delete(key);
    if (this.#isAbsent(inode, directory)) return undefined;
    const listing = this.#listings.get(directory);
    if (listing === undefined) return this.#list(directory);
    if (listing.error !== undefined) return listing.error;
    const name = listing.names.get(inode);
    if (name === undefined) this.#rememberAbsent(inode, directory, listing);
    else this.#places.set(key, directory + name);
    return fileWith(inode, this.#places.get(key));
  }

  #isAbsent(inode: string, directory: string): boolean {
    const absent = this.#absent.get(directory);
    return absent?.inodes.has(inode) === true && absent.date === dateOf(directory)?.text;
  }

  #rememberAbsent(inode: string, directory: string, { date }: Listing): void {
    if (date === undefined) return;
    const absent = this.#absent.get(directory);
    if (absent?.date === date) absent.inodes.add(inode);
    else this.#absent.set(directory, { date, inodes: new Set([inode]) });
  }

  async #list(directory: string): Promise<void> {
    const start = performance.now();
    const date = dateOf(directory);
    const names: string[] = [];
    const error = await readNames(directory, nameBudget(), (name) => names.push(name) > 0).then(
      none,
      asError,
    );
    const byInode = new Map<string, string>();
    await inPortions(error === undefined ? names : [], (name) => {
      const stat = logAt(directory + name);
      if (stat !== undefined) byInode.set(stat.inode, name);
    });
    const end = performance.now();
    this.#listings.set(directory, {
      names: byInode,
      error: error?.code === undefined ? error : undefined,
      isAbsent: error?.code === 'ENOENT',
      date: date?.isSettled ? date.text : undefined,
      goodUntil: end + Math.min(LISTING_AGE, WORTH * (end - start)),
    });
  }
}

interface Listing {
  /** Of the regular files, by inode. */
  readonly names: ReadonlyMap<string, string>;
  /** There are too many. */
  readonly error: Error | undefined;
  readonly isAbsent: boolean;
  /** The directory's, where every later change gives it another one. */
  readonly date: string | undefined;
  readonly goodUntil: Millis;
}

function fileWith(inode: string, path: string | undefined): RenamedFile | undefined {
  const stat = path === undefined ? undefined : logAt(path);
  return path !== undefined && stat?.inode === inode ? { path, stat } : undefined;
}

/** When names of a directory changed last. */
function dateOf(directory: string): { readonly text: string; readonly isSettled: boolean } | undefined {
  try {
    const { ino, mtimeNs, mtimeMs } = statSync(toBytes(directory || '.'), { bigint: true });
    return { text: `${ino} ${mtimeNs}`, isSettled: Date.now() - Number(mtimeMs) > COARSEST_TICK };
  } catch {
    return undefined;
  }
}

function none(): undefined {}

function asError(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  return error;
}

/** Nothing but a regular file is a log that was renamed: a link may lead anywhere. */
function logAt(place: string): FileStat | undefined {
  try {
    const stat = lstatSync(toBytes(place), { throwIfNoEntry: false });
    return stat?.isFile() ? factsOf(place, stat) : undefined;
  } catch {
    return undefined;
  }
}

export function factsOf(place: string, stat: Stats): FileStat {
  const { ino, size, mtimeMs } = stat;
  // Beyond 2^53 a number is no longer exact.
  const isExact = ino <= Number.MAX_SAFE_INTEGER;
  const inode = isExact ? ino : statSync(toBytes(place), { bigint: true }).ino;
  return { inode: String(inode), size, writtenAgo: Math.max(0, Date.now() - mtimeMs) };
}
