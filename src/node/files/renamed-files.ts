import { lstatSync, type Stats, statSync } from 'node:fs';
import type { FileStat } from '../../core/look/snapshot.ts';
import { COARSEST_TICK } from '../../core/look/snapshot.ts';
import type { Millis } from '../../core/text/units.ts';
import { inPortions, toBytes } from './files.ts';
import { isAbsence, isExhaustion } from './in-words.ts';
import { nameBudget, readNames } from './names.ts';

/** A listing is valid for ten times as long as it took, at most LISTING_AGE. */
const WORTH = 10;
const LISTING_AGE: Millis = 1_000;
const MOST_KNOWN = 10_000;

export interface RenamedFile {
  readonly path: string;
  readonly stat: FileStat;
}

/** Finds renamed files by their inodes in their directories. */
export class RenamedFiles {
  readonly #listings = new Map<string, Listing>();
  /** The paths of found files. While they are valid, nothing is listed. */
  readonly #places = new Map<string, string>();
  #began: Millis = 0;

  /** Begins a look, and removes old listings. */
  begin(): void {
    this.#began = performance.now();
    if (this.#places.size > MOST_KNOWN) this.#places.clear();
    let known = 0;
    for (const [directory, { names, date, goodUntil }] of this.#listings) {
      known += names.size;
      if (goodUntil < this.#began && (date === undefined || known > MOST_KNOWN))
        this.#listings.delete(directory);
    }
  }

  /** Rejects if the directory is too large to list. */
  async find(inode: string, directory: string): Promise<RenamedFile | undefined> {
    const key = `${directory}\t${inode}`;
    const found = fileWith(inode, this.#places.get(key));
    if (found !== undefined) return found;
    this.#places.delete(key);
    const { error, names } = await this.#listingOf(directory);
    if (error !== undefined) throw error;
    const name = names.get(inode);
    if (name !== undefined) this.#places.set(key, directory + name);
    return fileWith(inode, this.#places.get(key));
  }

  /** Whether a name may be a symbolic link. */
  async mayBeLink(directory: string, name: string): Promise<boolean> {
    const { links } = await this.#listingOf(directory);
    return links === undefined || links.has(name);
  }

  async #listingOf(directory: string): Promise<Listing> {
    const known = this.#listings.get(directory);
    if (known !== undefined && this.#isGood(known, directory)) return known;
    const listing = await listed(directory);
    this.#listings.set(directory, listing);
    return listing;
  }

  #isGood({ date, goodUntil }: Listing, directory: string): boolean {
    return goodUntil >= this.#began || (date !== undefined && date === dateOf(directory)?.text);
  }
}

interface Listing {
  /** The names of the regular files, by inode. */
  readonly names: ReadonlyMap<string, string>;
  /** The names of the symbolic links; undefined if they are unknown. */
  readonly links: ReadonlySet<string> | undefined;
  /** Set if the directory has too many names. */
  readonly error: Error | undefined;
  /** The directory's mtime, if every later change will give it another one. */
  readonly date: string | undefined;
  readonly goodUntil: Millis;
}

async function listed(directory: string): Promise<Listing> {
  const start = performance.now();
  const date = dateOf(directory);
  const all: string[] = [];
  const names = new Map<string, string>();
  const links = new Set<string>();
  let error: NodeJS.ErrnoException | undefined;
  try {
    await readNames(directory, nameBudget(), (name, entry) => {
      if (entry.isSymbolicLink()) links.add(name);
      return all.push(name) > 0;
    });
    await inPortions(all, (name) => {
      const stat = logAt(directory + name);
      if (stat !== undefined) names.set(stat.inode, name);
    });
  } catch (caught) {
    error = caught as NodeJS.ErrnoException;
  }
  const end = performance.now();
  return {
    names,
    links: error === undefined || isAbsence(error) ? links : undefined,
    // In a directory that the system refuses, nothing can be found. It refuses none for want of room to open it.
    error: error?.code === undefined || isExhaustion(error) ? error : undefined,
    date: date?.isSettled ? date.text : undefined,
    goodUntil: end + Math.min(LISTING_AGE, WORTH * (end - start)),
  };
}

function fileWith(inode: string, path: string | undefined): RenamedFile | undefined {
  const stat = path === undefined ? undefined : logAt(path);
  return path !== undefined && stat?.inode === inode ? { path, stat } : undefined;
}

/** The mtime of a directory: the last change of its names. */
function dateOf(directory: string): { readonly text: string; readonly isSettled: boolean } | undefined {
  try {
    const { ino, mtimeNs, mtimeMs } = statSync(toBytes(directory || '.'), { bigint: true });
    return { text: `${ino} ${mtimeNs}`, isSettled: Date.now() - Number(mtimeMs) > COARSEST_TICK };
  } catch {
    return undefined;
  }
}

/** Only a regular file is a renamed log. A link may lead anywhere. */
function logAt(place: string): FileStat | undefined {
  try {
    const stat = lstatSync(toBytes(place), { throwIfNoEntry: false });
    return stat?.isFile() ? fileStatOf(place, stat) : undefined;
  } catch {
    return undefined;
  }
}

export function fileStatOf(place: string, stat: Stats): FileStat {
  const { ino, size, mtimeMs } = stat;
  // A number above 2^53 is not exact.
  const isExact = ino <= Number.MAX_SAFE_INTEGER;
  const inode = isExact ? ino : statSync(toBytes(place), { bigint: true }).ino;
  return { inode: String(inode), size, writtenAgo: Math.max(0, Math.round(Date.now() - mtimeMs)) };
}
