import { constants, fstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { encodePath } from '../../core/pos-file/path-bytes.ts';
import { NEWLINE, pathEndOf } from '../../core/pos-file/pos-line.ts';
import { formatBytes, type Millis } from '../../core/text/units.ts';
import { exists } from './files.ts';
import { inWords } from './in-words.ts';

/** A pos file of two million entries. More is something else, or nothing that one should load beside a Fluentd. */
const LARGEST = 512 * 1024 ** 2;
/** Longer than many lines: a path has 4,096 bytes at most. */
const HEAD = 64 * 1024;
const PORTION = 4 * 1024 ** 2;
const STDIN = 0;

export interface PosBytes {
  readonly bytes: Uint8Array;
  /** How long ago it was written; null: it came through a pipe. */
  readonly writtenAgo: Millis | null;
}

/** The bytes of a pos file, `-` for stdin; undefined: there is none. Rejects with what is wrong in words. */
export async function readPosBytes(path: string): Promise<PosBytes | undefined> {
  if (path === '-') return readStdin();
  const file = await openFile(path);
  if (file === undefined) return undefined;
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) throw new Error('it is a directory, and no pos file');
    refuseLarge(stat.size);
    const bytes = await readAll(() => file, stat.size);
    // After the bytes: what was written while they were read counts as written now.
    const { mtimeMs, nlink } = await file.stat();
    // A name that stands for another file by now has been replaced, not lost.
    if (stat.isFile() && nlink === 0 && !(await exists(path)))
      throw new Error('it vanished while it was read');
    return { bytes, writtenAgo: stat.isFile() ? ageOf(mtimeMs) : null };
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    // Non-blocking: opening a FIFO that nobody writes to would wait for ever.
    return await open(Buffer.from(encodePath(path)), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(inWords(error as NodeJS.ErrnoException));
  }
}

async function readAll(source: () => FileHandle, expected: number): Promise<Uint8Array> {
  let bytes: Uint8Array = new Uint8Array(Math.max(HEAD, expected + 1));
  let length = 0;
  for (;;) {
    if (length === bytes.length) bytes = enlarged(bytes);
    const count = await readSome(source(), bytes, length);
    if (count === 0) return bytes.subarray(0, length);
    const checked = length < HEAD && length + count >= HEAD;
    length += count;
    if (checked) refuseOthers(bytes.subarray(0, length));
    refuseLarge(length);
  }
}

async function readSome(file: FileHandle, bytes: Uint8Array, from: number): Promise<number> {
  for (;;) {
    try {
      const length = Math.min(PORTION, bytes.length - from);
      return (await file.read(bytes, from, length, null)).bytesRead;
    } catch (error) {
      // A pipe whose writer has nothing to say yet: `inspect <(kubectl exec …)`.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw new Error(inWords(error as Error));
      await pause(10);
    }
  }
}

async function readStdin(): Promise<PosBytes> {
  const stat = fstatSync(STDIN);
  if (stat.isDirectory()) throw new Error('it is a directory, and no pos file');
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    parts.push(part);
    const before = length;
    length += part.length;
    if (before < HEAD && length >= HEAD) refuseOthers(Buffer.concat(parts));
    refuseLarge(length);
  }
  return { bytes: Buffer.concat(parts), writtenAgo: stat.isFile() ? ageOf(stat.mtimeMs) : null };
}

function ageOf(mtime: Millis): Millis {
  return Math.max(0, Date.now() - mtime);
}

function enlarged(bytes: Uint8Array): Uint8Array {
  const larger = new Uint8Array(bytes.length * 2);
  larger.set(bytes);
  return larger;
}

function refuseLarge(size: number): void {
  if (size > LARGEST)
    throw new Error(
      `it is too large for a pos file: ${formatBytes(size)}, of ${formatBytes(LARGEST)} at most`,
    );
}

/** The beginning of a large file tells whether it is worth reading on. */
function refuseOthers(head: Uint8Array): void {
  for (
    let start = 0, end = head.indexOf(NEWLINE);
    end >= 0;
    start = end + 1, end = head.indexOf(NEWLINE, start)
  )
    if (pathEndOf(head, start, end) >= 0) return;
  throw new Error(
    `it is no pos file: its first ${formatBytes(HEAD)} hold no line of path, position and inode`,
  );
}
