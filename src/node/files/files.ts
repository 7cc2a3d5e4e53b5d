import { type BigIntStats, constants, lstatSync, readlinkSync, statSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import type { FileStat } from '../../core/look/snapshot.ts';
import { decodePath, encodePath } from '../../core/pos-file/path-bytes.ts';
import type { FileContent } from '../../host.ts';
import { readBounded } from './bounded.ts';

/** A pos file of 400,000 entries. */
const LARGEST = 64 * 1024 ** 2;
const STATS_AT_ONCE = 200;
const SCAN_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const LISTING_AGE = 1_000;
/** As many as Linux follows (path_resolution(7)). */
const MOST_LINKS = 40;
/** Linux dates a write by the last timer tick: up to 10 ms (HZ=100) before it happened. */
const TICK = 10;

/** The bytes of a pos file or pid file and its age; undefined where there is none. */
export async function readFile(path: string): Promise<FileContent | undefined> {
  const found = await readBounded(path, { limit: LARGEST });
  if (found === undefined) return undefined;
  return { bytes: found.bytes, writtenAgo: Math.max(0, Date.now() - found.stat.mtimeMs - TICK) };
}

export function statFiles(paths: readonly string[]): Promise<readonly (FileStat | Error | undefined)[]> {
  return inPortions(paths, statFile);
}

/** Stats of many files: synchronous in small portions, four times as fast as promises and never long in the way. */
async function inPortions<T>(paths: readonly string[], stat: (path: string) => T): Promise<readonly T[]> {
  const stats: T[] = [];
  for (let at = 0; at < paths.length; at += STATS_AT_ONCE) {
    if (at > 0) await new Promise(setImmediate);
    for (const path of paths.slice(at, at + STATS_AT_ONCE)) stats.push(stat(path));
  }
  return stats;
}

/**
 * The directories where a log may lie that was renamed: the path's own, then where the symlink at the path leads, link by link.
 * Behind /var/log/containers/x.log -> ../pods/…/0.log the kubelet renames the target. Each is empty, or ends with its slash.
 */
export function* directoriesBeside(path: string): Generator<string> {
  let place: string | undefined = path;
  for (let links = 0; place !== undefined && links <= MOST_LINKS; links += 1) {
    const directory = place.slice(0, place.lastIndexOf('/') + 1);
    yield directory;
    const target = targetOf(place);
    place = target?.startsWith('/') ? target : target && directory + target;
  }
}

function targetOf(path: string): string | undefined {
  try {
    // Without a link readlink throws, which takes ten times as long.
    const isLink = lstatSync(toBytes(path), { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? decodePath(readlinkSync(toBytes(path), { encoding: 'buffer' })) : undefined;
  } catch {
    return undefined;
  }
}

/** Ends the last line of a text file, unless somebody has written to it since. */
export async function appendNewline(path: string, size: number): Promise<void> {
  const file = await open(toBytes(path), constants.O_RDWR | constants.O_APPEND | constants.O_NONBLOCK);
  try {
    const head = Buffer.alloc(HEAD);
    const { bytesRead } = await file.read(head, 0, HEAD, 0);
    if (!isText(head.subarray(0, bytesRead))) throw new Error('it is compressed or binary, and no text');
    const stat = await file.stat();
    if (stat.size === size) await file.write('\n');
  } finally {
    await file.close();
  }
}

/** How gzip, zstd, xz and bzip2 begin: a glob may take rotated files too. */
const COMPRESSED = ['1f8b', '28b52ffd', 'fd377a585a', '425a68'].map((hex) => Buffer.from(hex, 'hex'));
const HEAD = 4_096;

function isText(head: Buffer): boolean {
  const isCompressed = COMPRESSED.some((magic) => head.subarray(0, magic.length).equals(magic));
  return !isCompressed && !head.includes(0);
}

/** Finds renamed files by inode, and newlines in what is left of files; remembers what it saw for a while. */
export class FileSearch {
  readonly #listings = new Map<string, Listing>();
  readonly #scans = new Map<string, Scan>();
  readonly #onScan: (scanned: Scanned) => void;

  /** `onScan` is told how far a scan is, which may take minutes. */
  constructor(onScan: (scanned: Scanned) => void = () => {}) {
    this.#onScan = onScan;
  }

  async findByInode(path: string, inode: string): Promise<{ path: string; stat: FileStat } | undefined> {
    for (const directory of directoriesBeside(path)) {
      const found = (await this.#list(directory)).paths.get(inode);
      const now = found === undefined ? undefined : statLog(found);
      if (found !== undefined && now?.inode === inode) return { path: found, stat: now };
    }
    return undefined;
  }

  /** Reads on from where an earlier scan of the same rest of the same file found none. */
  async hasNewlineAfter(path: string, position: number): Promise<boolean | undefined> {
    const before = this.#scans.get(path);
    const scan = await orUndefined(scanForNewline({ path, position, before }, this.#onScan));
    if (scan === undefined || scan.found) this.#scans.delete(path);
    else this.#scans.set(path, scan);
    return scan?.found;
  }

  async #list(directory: string): Promise<Listing> {
    const before = this.#listings.get(directory);
    if (before !== undefined && performance.now() - before.at < LISTING_AGE) return before;
    const names = (await orUndefined(readdir(toBytes(directory || '.'), { encoding: 'buffer' }))) ?? [];
    const paths = names.map((name) => `${directory}${decodePath(name)}`);
    const stats = await inPortions(paths, statLog);
    const listing: Listing = { at: performance.now(), paths: new Map() };
    for (const [index, path] of paths.entries()) {
      const found = stats[index];
      if (found !== undefined) listing.paths.set(found.inode, path);
    }
    this.#listings.set(directory, listing);
    return listing;
  }
}

interface Listing {
  readonly at: number;
  readonly paths: Map<string, string>;
}

interface Scan {
  readonly inode: number;
  readonly position: number;
  readonly scannedTo: number;
  readonly found: boolean;
}

interface Rest {
  readonly path: string;
  readonly position: number;
  readonly before: Scan | undefined;
}

/** How many bytes of what is left of a file have been scanned. */
export interface Scanned {
  readonly path: string;
  readonly scanned: number;
  readonly left: number;
}

async function scanForNewline(
  { path, position, before }: Rest,
  tell: (scanned: Scanned) => void,
): Promise<Scan> {
  const file = await open(toBytes(path), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { ino: inode, size } = await file.stat();
    const isSame = before?.inode === inode && before.position === position && before.scannedTo <= size;
    const chunk = Buffer.allocUnsafe(SCAN_BYTES);
    for (let scannedTo = isSame ? before.scannedTo : position; ; ) {
      const { bytesRead } = await file.read(chunk, 0, SCAN_BYTES, scannedTo);
      const found = chunk.subarray(0, bytesRead).includes(NEWLINE);
      if (found || bytesRead === 0) return { inode, position, scannedTo, found };
      scannedTo += bytesRead;
      tell({ path, scanned: scannedTo - position, left: size - position });
    }
  } finally {
    await file.close();
  }
}

function statFile(path: string): FileStat | Error | undefined {
  try {
    const found = statOf(path);
    return found && factsOf(found);
  } catch (error) {
    return isMissing(error) ? undefined : (error as Error);
  }
}

/** Nothing but a regular file is a log that was renamed. */
function statLog(path: string): FileStat | undefined {
  try {
    const found = statOf(path);
    return found?.isFile() ? factsOf(found) : undefined;
  } catch {
    return undefined;
  }
}

function statOf(path: string): BigIntStats | undefined {
  return statSync(toBytes(path), { bigint: true, throwIfNoEntry: false });
}

function factsOf({ ino, size }: BigIntStats): FileStat {
  return { inode: ino.toString(), size: Number(size) };
}

/** Whether anything is to be seen at the path; what may not be looked at is not. */
export async function exists(path: string): Promise<boolean> {
  return stat(toBytes(path)).then(
    () => true,
    () => false,
  );
}

/** As a string where it is one: Node then spares itself a copy. */
export function toBytes(path: string): string | Buffer {
  return path.isWellFormed() ? path : Buffer.from(encodePath(path));
}

async function orUndefined<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
