import { closeSync, constants, openSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FileStat } from '../../core/look/snapshot.ts';
import { NEWLINE } from '../../core/pos-file/pos-file.ts';
import type { LookOptions } from '../../host.ts';
import { toBytes } from './files.ts';

/** Nearly every rest of a file has a newline in its first part. */
const FIRST_PART = 64 * 1024;
const PART = 1024 ** 2;
/** For a look that must not take long, beside the first part of each file. */
const AT_MOST = 64 * 1024 ** 2;

/** What one look may still search, and who is told how far it is. */
export interface SearchTask extends Pick<LookOptions, 'onSearch'> {
  bytesLeft: number;
}

export function searchTask({ onSearch, searchAtMost = AT_MOST }: LookOptions): SearchTask {
  return { bytesLeft: searchAtMost, ...(onSearch && { onSearch }) };
}

/** Searches files for a newline. A search that takes too long for one look goes on in the next. */
export class NewlineSearch {
  readonly #searched = new Map<string, Searched>();
  readonly #firstPart = Buffer.allocUnsafe(FIRST_PART);

  /** Whether a newline stands at or after the position; undefined: not known yet, or the file cannot be read. */
  find(place: string, stat: FileStat, position: number, task: SearchTask): Found | Promise<Found> {
    const before = this.#searched.get(place);
    const isSame = before?.inode === stat.inode && before.position === position && before.end <= stat.size;
    const start = isSame ? before.end : position;
    const part = read(place, start, this.#firstPart);
    if (part?.length === FIRST_PART && !part.includes(NEWLINE))
      return this.#findBeyond(place, stat, { inode: stat.inode, position, end: start + FIRST_PART }, task);
    return part?.includes(NEWLINE);
  }

  async #findBeyond(place: string, { size }: FileStat, searched: Searched, task: SearchTask): Promise<Found> {
    const buffer = Buffer.allocUnsafe(PART);
    this.#searched.set(place, searched);
    while (task.bytesLeft > 0) {
      const { position, end } = searched;
      task.onSearch?.({ path: place, searched: end - position, left: size - position });
      const part = read(place, end, buffer);
      if (part === undefined || part.includes(NEWLINE)) {
        this.#searched.delete(place);
        return part && true;
      }
      searched.end += part.length;
      if (part.length < PART) return false;
      task.bytesLeft -= PART;
      await nextTurn();
    }
    return undefined;
  }
}

type Found = boolean | undefined;

/** No newline stands from the position up to the end. */
interface Searched {
  readonly inode: string;
  readonly position: number;
  end: number;
}

/** As much as the buffer takes; undefined: the file cannot be read. */
function read(place: string, start: number, buffer: Buffer): Buffer | undefined {
  try {
    const file = openSync(toBytes(place), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, start));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
