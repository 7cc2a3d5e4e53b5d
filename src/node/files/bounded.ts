import { type BigIntStats, constants, fstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { encodePath } from '../../core/pos-file/path-bytes.ts';
import { formatBytes } from '../../core/text/units.ts';
import type { FileContent } from '../../host.ts';
import { whileRunning } from '../processes/end.ts';
import { inWords } from './in-words.ts';

/** The most that a file may grow during the read. Files in /proc have size 0. */
const SLACK = 64 * 1024;

/** Linux dates a write by the last timer tick, up to 10 ms too early (HZ=100). */
const TICK = 10;

/**
 * The bytes and the age of a regular file; undefined if there is none. Rejects, with the reason in words, if it is larger than the limit or not
 * regular: a device may be endless, and a pipe may never end. `known`: a stamp for which nothing need be read.
 */
export async function readBounded(path: string, limit: number, known?: string) {
  await whileRunning();
  try {
    return await readNow(path, limit, known);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw code === undefined ? error : new Error(inWords(error as NodeJS.ErrnoException));
  }
}

async function readNow(path: string, limit: number, known: string | undefined): Promise<FileContent> {
  // Non-blocking, because opening a FIFO without a writer would wait for ever. A network file system asks the server at each opening
  // (close-to-open, nfs(5)).
  await using file = await open(Buffer.from(encodePath(path)), constants.O_RDONLY | constants.O_NONBLOCK);
  // Synchronous: a promise costs several times as much, and the file is already open.
  const stat = fstatSync(file.fd, { bigint: true });
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  const id = `${dev} ${ino}`;
  /** Changes with the content. */
  const stamp = `${id} ${size} ${mtimeNs} ${ctimeNs}`;
  refuseKind(stat);
  refuseLarge(Number(size), limit);
  /** undefined if the file has not changed. */
  const bytes = stamp === known ? undefined : await readAll(file, Number(size), limit);
  // After the last byte was read.
  const { mtimeMs } = fstatSync(file.fd);
  return { bytes, stamp, file: id, writtenAgo: Math.max(0, Math.round(Date.now() - mtimeMs - TICK)) };
}

function refuseKind(stat: BigIntStats): void {
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw new Error('it is a directory');
  throw new Error(`it is a ${stat.isFIFO() ? 'pipe' : 'device'}, not a regular file`);
}

function refuseLarge(size: number, limit: number): void {
  if (size <= limit) return;
  throw new Error(`it is too large: ${formatBytes(size)}, and at most ${formatBytes(limit)} are read`);
}

async function readAll(file: FileHandle, expected: number, limit: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(expected + SLACK);
  for (let length = 0; ; ) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, null);
    length += bytesRead;
    refuseLarge(length, limit);
    if (length === bytes.length) throw new Error('it is longer than the system says');
    // Files in /proc come in parts.
    if (bytesRead === 0 || (expected > 0 && length >= expected)) return bytes.subarray(0, length);
  }
}
