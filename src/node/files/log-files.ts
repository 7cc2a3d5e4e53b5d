import { closeSync, constants, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs';
import type { DatedLook, DatedStat } from '../../core/inspect/rows.ts';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import type { PositionEntry } from '../../core/pos-file/pos-file.ts';
import { BelowRoot } from './below-root.ts';
import { directoriesBeside, type FileSearch, toBytes } from './files.ts';
import { inWords } from './in-words.ts';

const NEWLINE = 0x0a;
const SCAN_BYTES = 64 * 1024;

/** The log files of a pos file's entries, one look at all of them; synchronous, since a stat takes a microsecond. */
export class LogFiles {
  readonly #below: BelowRoot | undefined;
  /** Finds newlines in long rests, and remembers how far it has looked. */
  readonly #search: FileSearch;
  readonly #listings = new Map<string, ReadonlyMap<string, string>>();
  /** Directories that are not there. */
  readonly #absent = new Set<string>();
  readonly #chunk = Buffer.allocUnsafe(SCAN_BYTES);
  readonly #now = Date.now();

  constructor(root: string | undefined, search: FileSearch) {
    this.#below = root === undefined ? undefined : new BelowRoot(root);
    this.#search = search;
  }

  /** As `lookAtFile` in daemon/collect.ts. */
  look(entry: PositionEntry): DatedLook | Promise<DatedLook> {
    const { position, inode } = entry;
    const place = this.#below === undefined ? entry.path : this.#below.resolve(entry.path);
    // A pos file from another machine: one directory, thousands of entries.
    if (this.#absent.size > 0 && this.#absent.has(directoryOf(place))) return {};
    const stat = this.#stat(place);
    if (stat instanceof Error) return { error: inWords(stat) };
    if (stat !== undefined && (position === null || stat.inode === inode || inode === '0'))
      return this.#lookInside({ atPath: stat }, { place, size: stat.size, position });
    const renamed = position === null ? undefined : this.#findByInode(place, inode);
    const look = { ...(stat && { atPath: stat }), ...(renamed && { renamed }) };
    if (renamed === undefined) return look;
    return this.#lookInside(look, { place: renamed.path, size: renamed.stat.size, position });
  }

  /** Looks for a newline in what is left of a file. */
  #lookInside(look: DatedLook, { place, size, position }: Rest): DatedLook | Promise<DatedLook> {
    if (position === null || size <= position) return look;
    const found = this.#scan(place, position);
    if (found === 'unreadable') return look;
    if (found !== 'not in the first part') return { ...look, newlineLeft: found };
    return this.#search.hasNewlineAfter(place, position).then(
      (newlineLeft) => (newlineLeft === undefined ? look : { ...look, newlineLeft }),
      () => look,
    );
  }

  /** A million opens take 5 s: nearly always one short read answers. */
  #scan(place: string, position: number): boolean | 'not in the first part' | 'unreadable' {
    try {
      const file = openSync(toBytes(place), constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        const count = readSync(file, this.#chunk, 0, SCAN_BYTES, position);
        const found = this.#chunk.subarray(0, count).includes(NEWLINE);
        return found || count < SCAN_BYTES ? found : 'not in the first part';
      } finally {
        closeSync(file);
      }
    } catch {
      return 'unreadable';
    }
  }

  #stat(place: string): DatedStat | Error | undefined {
    try {
      const stat = statSync(toBytes(place), { throwIfNoEntry: false });
      return stat && this.#dated(place, stat);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ERR_INVALID_ARG_VALUE') return new Error('its path holds a NUL byte');
      return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : (error as Error);
    }
  }

  /** Nothing but a regular file is a log that was renamed. */
  #statLog(place: string): DatedStat | undefined {
    try {
      const stat = statSync(toBytes(place), { throwIfNoEntry: false });
      return stat?.isFile() ? this.#dated(place, stat) : undefined;
    } catch {
      return undefined;
    }
  }

  #dated(place: string, { ino, size, mtimeMs }: Stats): DatedStat {
    // Beyond 2^53 a number is no longer exact.
    const isExact = ino <= Number.MAX_SAFE_INTEGER;
    const inode = isExact ? ino : statSync(toBytes(place), { bigint: true }).ino;
    return { inode: String(inode), size, writtenAgo: Math.max(0, this.#now - mtimeMs) };
  }

  #findByInode(place: string, inode: string): DatedLook['renamed'] {
    for (const directory of directoriesBeside(place)) {
      const path = this.#list(directory).get(inode);
      const stat = path === undefined ? undefined : this.#statLog(path);
      if (path !== undefined && stat?.inode === inode) return { path, stat };
    }
    return undefined;
  }

  #list(directory: string): ReadonlyMap<string, string> {
    const known = this.#listings.get(directory);
    if (known !== undefined) return known;
    const listing = new Map<string, string>();
    for (const name of this.#namesIn(directory)) {
      const path = directory + decodePath(name);
      const stat = this.#statLog(path);
      if (stat !== undefined) listing.set(stat.inode, path);
    }
    this.#listings.set(directory, listing);
    return listing;
  }

  #namesIn(directory: string): readonly Buffer[] {
    try {
      return readdirSync(directory === '' ? '.' : toBytes(directory), { encoding: 'buffer' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#absent.add(directory);
      return [];
    }
  }
}

interface Rest {
  readonly place: string;
  readonly size: number;
  readonly position: number | null;
}

/** Empty, or with its slash. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}
