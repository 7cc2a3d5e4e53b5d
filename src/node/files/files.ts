import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodePath } from '../../core/pos-file/path-bytes.ts';
import { NEWLINE } from '../../core/pos-file/pos-file.ts';
import { formatBytes, type Millis } from '../../core/text/units.ts';
import type { FileContent, ReadOptions } from '../../host.ts';
import { readBounded } from './bounded.ts';

/** Maps a path from a configuration or pos file to this process's path. Throws, as the system does, if links never end. */
export type PlaceOf = (path: string) => string;

/** Enough for 400,000 entries. */
const LARGEST = 64 * 1024 ** 2;
/** The longest time that one portion of work blocks the event loop. */
const PORTION: Millis = 8;

/** The container's memory limit in bytes. Without a limit it is 0 or larger than the machine's memory. */
const MEMORY = process.constrainedMemory();
/** The memory for posidle itself, and for each pos file entry or listed file (measured: 50 to 75 MB, and up to 3 KB). */
const OWN_MEMORY = 64 * 1024 ** 2;
const ENTRY_MEMORY = 4 * 1024;
/** The memory for each byte of a path beyond USUAL_PATH (measured: 3.5, for bytes that are no UTF-8). */
const BYTE_MEMORY = 8;
const USUAL_PATH = 256;

/** The bytes and the age of a pos file; undefined if there is none. `memory`: the container's memory limit. */
export async function readFile(
  path: string,
  { known, alreadyKept = 0 }: ReadOptions = {},
  memory = MEMORY,
): Promise<FileContent | undefined> {
  const found = await readBounded(path, largestIn(memory), known);
  if (found?.bytes !== undefined) refuseManyLines(found.bytes, alreadyKept, memory);
  return found;
}

function refuseManyLines(bytes: Uint8Array, alreadyKept: number, memory: number): void {
  const room = roomIn(memory) - alreadyKept * ENTRY_MEMORY;
  // Even if each byte were a line of its own.
  if (bytes.length * ENTRY_MEMORY <= room) return;
  let [lines, taken, start] = [0, 0, 0];
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, start)) {
    lines += 1;
    taken += memoryOf(at - start);
    start = at + 1;
  }
  if (taken > room)
    throw new Error(
      `its ${lines} lines need ${formatBytes(taken)} of memory, and only ${formatBytes(Math.max(0, room))} of ${formatBytes(memory)} are free for that: raise the container's memory limit`,
    );
}

/** A quarter of the free memory: a file is in memory twice during the read, and again in the previous look. */
function largestIn(memory: number): number {
  return memory === 0 ? LARGEST : Math.max(1024 ** 2, Math.min(LARGEST, (memory - OWN_MEMORY) / 4));
}

/** The memory for the entries of all pos files and the files of all sources. */
export function roomIn(memory = MEMORY): number {
  return memory === 0 ? Number.POSITIVE_INFINITY : Math.max(1_000 * ENTRY_MEMORY, memory - OWN_MEMORY);
}

/** The memory for one entry or file with a path of this length. */
export function memoryOf(length: number): number {
  return ENTRY_MEMORY + BYTE_MEMORY * Math.max(0, length - USUAL_PATH);
}

/** Works on many files, synchronously in short portions. This is four times as fast as promises and blocks nothing for long. */
export async function inPortions<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let start = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - start < PORTION) continue;
    await nextTurn();
    start = performance.now();
  }
}

/** Whether posidle can see anything at the path. */
export async function exists(path: string, placeOf: PlaceOf = (own) => own): Promise<boolean> {
  try {
    await stat(toBytes(placeOf(path)));
    return true;
  } catch {
    return false;
  }
}

/** The result of the work; undefined if it throws, because the system refuses it. */
export function unlessItFails<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** A path for Node's functions. A well-formed string saves a copy. */
export function toBytes(path: string): string | Buffer {
  return path.isWellFormed() ? path : Buffer.from(encodePath(path));
}
