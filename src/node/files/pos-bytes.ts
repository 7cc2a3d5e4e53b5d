import { fstatSync } from 'node:fs';
import { IS_DATABASE, isDatabase, parsePosFile } from '../../core/pos-file/pos-file.ts';
import { formatBytes, type Millis } from '../../core/text/units.ts';
import { type Bounds, HEAD, readBounded, refuseLarge } from './bounded.ts';
import { exists } from './files.ts';

/** A pos file of two million entries. More is something else, or nothing that one should load beside a Fluentd. */
const BOUNDS: Bounds = { limit: 512 * 1024 ** 2, silence: 60_000, checkHead: refuseOthers };
const STDIN = 0;

export interface PosBytes {
  readonly bytes: Uint8Array;
  /** How long ago it was written; null: it came through a pipe. */
  readonly writtenAgo: Millis | null;
}

/** The bytes of a pos file, `-` for stdin; undefined: there is none. Rejects with what is wrong in words. */
export async function readPosBytes(path: string): Promise<PosBytes | undefined> {
  if (path === '-') return readStdin();
  const found = await readBounded(path, BOUNDS);
  if (found === undefined) return undefined;
  const { bytes, stat } = found;
  // A name that stands for another file by now has been replaced, not lost.
  if (stat.isFile() && stat.nlink === 0 && !(await exists(path)))
    throw new Error('it vanished while it was read');
  return { bytes, writtenAgo: stat.isFile() ? ageOf(stat.mtimeMs) : null };
}

async function readStdin(): Promise<PosBytes> {
  const stat = fstatSync(STDIN);
  if (stat.isDirectory()) throw new Error('it is a directory');
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    parts.push(part);
    const before = length;
    length += part.length;
    if (before < HEAD && length >= HEAD) refuseOthers(Buffer.concat(parts));
    refuseLarge(length, BOUNDS);
  }
  const bytes = Buffer.concat(parts);
  return { bytes, writtenAgo: stat.isFile() ? ageOf(stat.mtimeMs) : null };
}

function ageOf(mtime: Millis): Millis {
  return Math.max(0, Math.round(Date.now() - mtime));
}

/** The beginning of a large file tells whether it is worth reading on. */
function refuseOthers(head: Uint8Array): void {
  if (isDatabase(head)) throw new Error(IS_DATABASE);
  if (parsePosFile(head).entries.length > 0) return;
  throw new Error(
    `it is no pos file: its first ${formatBytes(HEAD)} hold no line of path, position and inode`,
  );
}
