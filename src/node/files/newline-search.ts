import { closeSync, constants, openSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FileStat } from '../../core/look/snapshot.ts';
import { NEWLINE } from '../../core/pos-file/pos-file.ts';
import { toBytes } from './files.ts';

/** Nearly every search ends in the first part. */
const FIRST_PART = 64 * 1024;
const PART = 1024 ** 2;
/** The most bytes for one look, in addition to the first part of each file. */
const AT_MOST = 64 * 1024 ** 2;

/** A file that has no newline between `position` and `end`. */
interface Searched {
  readonly inode: string;
  readonly position: number;
  end: number;
}

/** Searches files for a newline. A long search continues in the next look. */
export class NewlineSearch {
  readonly #searched = new Map<string, Searched>();
  readonly #firstPart = Buffer.allocUnsafe(FIRST_PART);
  #bytesLeft = AT_MOST;

  /** Begins a look. */
  begin(): void {
    this.#bytesLeft = AT_MOST;
  }

  /** Whether there is a newline at or after the position; undefined if the search has not ended, or the file is unreadable. */
  async find(place: string, { inode, size }: FileStat, position: number): Promise<boolean | undefined> {
    const before = this.#searched.get(place);
    const isSame = before?.inode === inode && before.position === position && before.end <= size;
    const searched = isSame ? before : { inode, position, end: position };
    let buffer = this.#firstPart;
    do {
      const part = read(place, searched.end, buffer);
      if (part === undefined || part.includes(NEWLINE)) {
        this.#searched.delete(place);
        return part && true;
      }
      searched.end += part.length;
      if (part.length < buffer.length) return false;
      this.#searched.set(place, searched);
      this.#bytesLeft -= part.length;
      if (buffer === this.#firstPart) buffer = Buffer.allocUnsafe(PART);
      await nextTurn();
    } while (this.#bytesLeft > 0);
    return undefined;
  }
}

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
