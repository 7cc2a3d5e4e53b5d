import { decodePath } from './path-bytes.ts';
import type { PositionEntry } from './pos-file.ts';
import type { UnparsableLine } from './pos-line.ts';
import { type LineValues, MOST_MERGED, NEWLINE, scanLines, TAB, valuesAfter } from './pos-line.ts';
import { NONE, RowTable } from './row-table.ts';

const WINDOW = 64 * 1024;
/** Paths that are read one after the other lie no further apart, also where some are left out. */
const STRIDE = 4 * 1024;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The entries of a pos file as columns over its own bytes: a million objects would take half a GiB, this takes 36 bytes an
 * entry. The same rules as `latestEntries`: of several lines with one path and inode the last counts. A torn last line is told
 * as well: the daemon just looks again, but where no Fluentd writes any more the line stays torn.
 */
export class EntryRows {
  readonly bytes: Uint8Array;
  readonly unparsable: UnparsableLine[] = [];
  #count = 0;
  readonly #starts: Uint32Array;
  readonly #pathEnds: Uint32Array;
  readonly #hashes: Int32Array;
  /** 1: another row with the same path stands further down. */
  readonly #overtaken: Uint8Array;
  /** 1: another row with the same path and inode stands further down. */
  readonly #superseded: Uint8Array;
  readonly #byPath: RowTable;
  readonly #byEntry: RowTable;
  #window: Window = { from: 0, to: 0, text: undefined };
  #lastStart = 0;

  constructor(bytes: Uint8Array) {
    // A Buffer's subarray costs four times as much.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines = countLines(this.bytes) + MOST_MERGED;
    this.#starts = new Uint32Array(lines);
    this.#pathEnds = new Uint32Array(lines);
    this.#hashes = new Int32Array(lines);
    this.#overtaken = new Uint8Array(lines);
    this.#superseded = new Uint8Array(lines);
    this.#byPath = new RowTable(lines);
    this.#byEntry = new RowTable(lines);
    scanLines(this.bytes, {
      entry: (start, pathEnd) => this.#add(start, pathEnd),
      unparsable: (read) => this.unparsable.push(read()),
    });
  }

  /** Rows, superseded ones too. */
  get count(): number {
    return this.#count;
  }

  /** The entries that count, one after the other. */
  *latest(): Generator<EntryRow> {
    for (let row = 0; row < this.#count; row += 1)
      if (this.#superseded[row] === 0) {
        const { position, inode } = this.#values(row);
        yield { row, path: this.path(row), position, inode };
      }
  }

  entry(row: number): PositionEntry {
    const { position, inode } = this.#values(row);
    return { path: this.path(row), position, inode };
  }

  path(row: number): string {
    return this.#pathAt(this.#start(row), this.#pathEnd(row));
  }

  /** One byte of a path; -1 behind its last. */
  pathByte(row: number, index: number): number {
    const at = this.#start(row) + index;
    return at < this.#pathEnd(row) ? (this.bytes[at] as number) : -1;
  }

  position(row: number): number | null {
    return this.#values(row).position;
  }

  inode(row: number): string {
    return this.#values(row).inode;
  }

  /** With its newline. */
  lineLength(row: number): number {
    return this.bytes.indexOf(NEWLINE, this.#pathEnd(row)) + 1 - this.#start(row);
  }

  /** It is the last row of its path. */
  isLast(row: number): boolean {
    return this.#overtaken[row] === 0;
  }

  /** A later row has its path and its inode. */
  isSuperseded(row: number): boolean {
    return this.#superseded[row] === 1;
  }

  /** Another row with the same path has this inode. */
  hasInode(row: number, inode: string): boolean {
    return this.#byEntry.find(this.#entryHash(row, inode), this.#sameEntry(row, inode)) !== NONE;
  }

  /** Row after row, paths are cut out of text that was decoded at one go: ten times as fast. */
  #pathAt(start: number, end: number): string {
    const onward = start - this.#lastStart;
    this.#lastStart = start;
    const isInside = start >= this.#window.from && end <= this.#window.to;
    if (!isInside && onward >= 0 && onward <= STRIDE) this.#window = windowOf(this.bytes, start);
    const { from, to, text } = this.#window;
    if (text === undefined || start < from || end > to) return decodePath(this.bytes.subarray(start, end));
    return text.slice(start - from, end - from);
  }

  #values(row: number): LineValues {
    return valuesAfter(this.bytes, this.#pathEnd(row));
  }

  #start(row: number): number {
    return this.#starts[row] as number;
  }

  #pathEnd(row: number): number {
    return this.#pathEnds[row] as number;
  }

  #add(start: number, pathEnd: number): void {
    const row = this.#count;
    this.#count += 1;
    this.#starts[row] = start;
    this.#pathEnds[row] = pathEnd;
    this.#hashes[row] = hashOf(this.bytes, start, pathEnd);
    const before = this.#byPath.put(row, this.#hashes[row], (other) => this.#hasSamePath(other, row));
    if (before === NONE) return;
    this.#overtaken[before] = 1;
    // Only rows whose path stands there several times have to be told apart.
    this.#putEntry(before);
    const same = this.#putEntry(row);
    if (same !== NONE) this.#superseded[same] = 1;
  }

  #putEntry(row: number): number {
    const inode = this.inode(row);
    return this.#byEntry.put(row, this.#entryHash(row, inode), this.#sameEntry(row, inode));
  }

  #entryHash(row: number, inode: string): number {
    return Math.imul(this.#hashes[row] as number, 31) + (Number(inode) | 0);
  }

  #sameEntry(row: number, inode: string): (other: number) => boolean {
    return (other) => this.#hasSamePath(other, row) && this.inode(other) === inode;
  }

  #hasSamePath(row: number, other: number): boolean {
    if (row === other) return true;
    if (this.#hashes[row] !== this.#hashes[other]) return false;
    const { bytes } = this;
    let at = this.#start(row);
    let there = this.#start(other);
    for (; bytes[at] === bytes[there]; at += 1, there += 1) if (bytes[at] === TAB) return true;
    return false;
  }
}

/** A path that outlives the look is copied: as a slice it keeps the 64 KiB of text around it in memory. V8 shares no text that was joined. */
export function copied(text: string): string {
  return text.split('/').join('/');
}

export interface EntryRow extends PositionEntry {
  readonly row: number;
}

/** Decoded bytes; without a text where not each byte is a character, so that a byte's place is not the character's. */
interface Window {
  readonly from: number;
  readonly to: number;
  readonly text: string | undefined;
}

function windowOf(bytes: Uint8Array, from: number): Window {
  const part = bytes.subarray(from, from + WINDOW);
  const to = from + part.length;
  try {
    const text = strict.decode(part);
    return { from, to, text: text.length === part.length ? text : undefined };
  } catch {
    return { from, to, text: undefined };
  }
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, end + 1)) count += 1;
  return count;
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash;
}
