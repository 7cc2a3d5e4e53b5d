import { constants, fstatSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { encodePath } from '../../core/pos-file/path-bytes.ts';
import { formatBytes, type Millis } from '../../core/text/units.ts';
import { inWords } from './in-words.ts';

/** What a file is judged by: longer than many lines, for a path has 4,096 bytes at most. */
export const HEAD = 64 * 1024;
const PORTION = 4 * 1024 ** 2;

/** How much of a file may be read, and of what kind it may be. */
export interface Bounds {
  readonly limit: number;
  /** A pipe may be read too, until nothing has come through it for so long. */
  readonly silence?: Millis;
  /** Throws where a beginning of `HEAD` bytes or more is not worth reading on. */
  readonly checkHead?: (head: Uint8Array) => void;
}

export interface ReadFile {
  readonly bytes: Uint8Array;
  /** As it is after the last byte was read. */
  readonly stat: Stats;
}

/**
 * The bytes of a regular file; undefined: there is none. Rejects, with the reason in words, where it is larger than the limit
 * or no regular file: a device may be endless, a pipe may never end.
 */
export async function readBounded(path: string, bounds: Bounds): Promise<ReadFile | undefined> {
  try {
    return await readNow(path, bounds);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw code === undefined ? error : new Error(inWords(error as NodeJS.ErrnoException));
  }
}

async function readNow(path: string, bounds: Bounds): Promise<ReadFile> {
  // Non-blocking: opening a FIFO that nobody writes to would wait for ever.
  const file = await open(Buffer.from(encodePath(path)), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    // A promise costs several times as much, and the system has just answered for this file.
    const stat = fstatSync(file.fd);
    refuseKind(stat, bounds);
    refuseLarge(stat.size, bounds);
    const bytes = await readAll(file, stat.size, bounds);
    return { bytes, stat: fstatSync(file.fd) };
  } finally {
    await file.close();
  }
}

function refuseKind(stat: Stats, { silence }: Bounds): void {
  if (stat.isFile() || (silence !== undefined && stat.isFIFO())) return;
  if (stat.isDirectory()) throw new Error('it is a directory');
  throw new Error(`it is a ${stat.isFIFO() ? 'pipe' : 'device'}, not a regular file`);
}

export function refuseLarge(size: number, { limit }: Bounds): void {
  if (size <= limit) return;
  throw new Error(`it is too large: ${formatBytes(size)}, and at most ${formatBytes(limit)} are read`);
}

async function readAll(file: FileHandle, expected: number, bounds: Bounds): Promise<Uint8Array> {
  let bytes: Uint8Array = new Uint8Array(expected === 0 ? HEAD : expected + 1);
  for (let length = 0; ; ) {
    if (length === bytes.length) bytes = enlarged(bytes);
    const room = bytes.subarray(length, length + PORTION);
    const count = await readSome(file, room, bounds);
    const isHeadDone = length < HEAD && length + count >= HEAD;
    length += count;
    if (isHeadDone) bounds.checkHead?.(bytes.subarray(0, length));
    refuseLarge(length, bounds);
    // A read that goes beyond the known size and leaves room ends the file. Of size 0 are pipes too, which give parts.
    if (count === 0 || (expected > 0 && length >= expected && count < room.length))
      return bytes.subarray(0, length);
  }
}

async function readSome(file: FileHandle, into: Uint8Array, { silence = 0 }: Bounds): Promise<number> {
  const end = performance.now() + silence;
  for (;;) {
    try {
      return (await file.read(into, 0, into.length, null)).bytesRead;
    } catch (error) {
      // A pipe whose writer has nothing to say yet: `inspect <(kubectl exec …)`.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      if (performance.now() > end) throw new Error('nothing more came through the pipe');
      await pause(10);
    }
  }
}

function enlarged(bytes: Uint8Array): Uint8Array {
  const larger = new Uint8Array(bytes.length * 2);
  larger.set(bytes);
  return larger;
}
