import { constants, fstatSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodePath } from '../../core/pos-file/path-bytes.ts';
import { NEWLINE } from '../../core/pos-file/pos-file.ts';
import { formatBytes, type Millis } from '../../core/text/units.ts';
import type { FileContent, FileStamp } from '../../host.ts';
import { readBounded } from './bounded.ts';

/** Where a path that a configuration or a pos file names lies for this process. Throws as the system does where links never end. */
export type PlaceOf = (path: string) => string;

/** A pos file of 400,000 entries. */
const LARGEST = 64 * 1024 ** 2;
/** For so long at once nothing else happens. */
const PORTION: Millis = 8;
/** Linux dates a write by the last timer tick: up to 10 ms (HZ=100) before it happened. */
const TICK = 10;

/** All that the container may take; 0, or beyond all memory that there is: no limit is set. */
const MEMORY = process.constrainedMemory();
/** What posidle takes by itself, and for each entry of a pos file or file of a source (measured: 50 to 75 MB, and up to 3 KB). */
const OWN_MEMORY = 64 * 1024 ** 2;
const ENTRY_MEMORY = 4 * 1024;
/** And for each byte of its path beyond these (measured: 3.5, for bytes that are no UTF-8). */
const BYTE_MEMORY = 8;
const USUAL_PATH = 256;

/**
 * The bytes of a pos file or pid file and its age; undefined where there is none. `alreadyKept`: entries that are kept already. `memory`: all
 * that the container may take.
 */
export async function readFile(
  path: string,
  alreadyKept = 0,
  memory = MEMORY,
): Promise<FileContent | undefined> {
  const found = await readBounded(path, largestIn(memory));
  if (found === undefined) return undefined;
  refuseManyLines(found.bytes, alreadyKept, memory);
  return { bytes: found.bytes, writtenAgo: agoOf(found.stat.mtimeMs) };
}

/** Opens the file, for a network file system looks at the server only then (close-to-open, nfs(5)). */
export async function fileStamp(path: string, placeOf: PlaceOf): Promise<FileStamp | undefined> {
  try {
    const file = await open(toBytes(placeOf(path)), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = fstatSync(file.fd, { bigint: true });
      return { id: `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`, writtenAgo: agoOf(Number(mtimeNs) / 1e6) };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

function agoOf(mtime: Millis): Millis {
  return Math.max(0, Date.now() - mtime - TICK);
}

function refuseManyLines(bytes: Uint8Array, alreadyKept: number, memory: number): void {
  const room = roomIn(memory) - alreadyKept * ENTRY_MEMORY;
  let [lines, taken, start] = [0, 0, 0];
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, start)) {
    lines += 1;
    taken += memoryOf(at - start);
    start = at + 1;
  }
  if (taken > room)
    throw new Error(
      `its ${lines} lines take ${formatBytes(taken)} of memory to look at, and of the ${formatBytes(memory)} here ${formatBytes(Math.max(0, room))} are left for that: raise the container's memory limit`,
    );
}

/** It is in memory twice while it is read, and again where the look before has not been let go of. */
function largestIn(memory: number): number {
  return memory === 0 ? LARGEST : Math.max(1024 ** 2, Math.min(LARGEST, (memory - OWN_MEMORY) / 4));
}

/** What such a container has left for entries, and for the files of all sources. */
export function roomIn(memory = MEMORY): number {
  return memory === 0 ? Number.POSITIVE_INFINITY : Math.max(1_000 * ENTRY_MEMORY, memory - OWN_MEMORY);
}

/** What is kept of an entry or a file whose path has so many bytes. */
export function memoryOf(length: number): number {
  return ENTRY_MEMORY + BYTE_MEMORY * Math.max(0, length - USUAL_PATH);
}

/** Works on many files: synchronous in small portions, four times as fast as promises and never long in the way. */
export async function inPortions<T>(items: Iterable<T>, work: (item: T) => unknown): Promise<void> {
  let start = performance.now();
  for (const item of items) {
    const later = work(item);
    if (later instanceof Promise) await later;
    if (performance.now() - start < PORTION) continue;
    await nextTurn();
    start = performance.now();
  }
}

/** Whether anything is to be seen at the path; what may not be looked at is not. */
export async function exists(path: string, placeOf: PlaceOf = (own) => own): Promise<boolean> {
  try {
    await stat(toBytes(placeOf(path)));
    return true;
  } catch {
    return false;
  }
}

/** As a string where it is one: Node then spares itself a copy. */
export function toBytes(path: string): string | Buffer {
  return path.isWellFormed() ? path : Buffer.from(encodePath(path));
}
