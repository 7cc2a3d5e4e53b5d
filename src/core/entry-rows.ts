import { decodePath } from './path-bytes.ts';
import { entryAt, type PositionEntry, type UnparsableLine } from './pos-file.ts';
import { NEWLINE, readLine, TAB } from './pos-line.ts';

const NONE = -1;
/** So much of an unparsable line is kept; no path is longer. */
const LONGEST_TEXT = 8_192;

/**
 * The entries of a pos file as columns over its own bytes: a million objects would take half a GiB, this takes 30 bytes an
 * entry. The same rules as `latestEntries`: of several lines with one path and inode the last counts.
 */
export class EntryRows {
  readonly bytes: Uint8Array;
  readonly unparsable: UnparsableLine[] = [];
  #count = 0;
  readonly #starts: Uint32Array;
  readonly #hashes: Int32Array;
  /** The row before this one with the same path. */
  readonly #before: Int32Array;
  /** 1: another row with the same path and inode stands further down. */
  readonly #superseded: Uint8Array;
  /** By hash of the path, its last row. */
  readonly #last: Int32Array;

  constructor(bytes: Uint8Array) {
    // A Buffer's subarray costs four times as much.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines = countLines(this.bytes);
    this.#starts = new Uint32Array(lines);
    this.#hashes = new Int32Array(lines);
    this.#before = new Int32Array(lines);
    this.#superseded = new Uint8Array(lines);
    this.#last = new Int32Array(2 ** Math.ceil(Math.log2(lines + 1) + 1)).fill(NONE);
    this.#fill();
  }

  /** Rows, superseded ones too. */
  get count(): number {
    return this.#count;
  }

  isSuperseded(row: number): boolean {
    return this.#superseded[row] === 1;
  }

  entry(row: number): PositionEntry {
    const entry = entryAt(this.bytes, this.#start(row));
    if (entry === undefined) throw new Error(`row ${row} is no entry`);
    return entry;
  }

  /** The entry without its path, which is dear to decode. */
  nameless(row: number): PositionEntry {
    const parts = readLine(this.bytes, this.#start(row));
    return { path: '', position: parts?.position ?? null, inode: parts?.inode ?? '0' };
  }

  pathBytes(row: number): Uint8Array {
    const start = this.#start(row);
    return this.bytes.subarray(start, readLine(this.bytes, start)?.pathEnd ?? start);
  }

  path(row: number): string {
    return decodePath(this.pathBytes(row));
  }

  /** It is the last row of its path. */
  isLast(row: number): boolean {
    return this.#last[this.#slotOf(row)] === row;
  }

  /** A row with the same path and this inode counts. */
  hasInode(row: number, inode: string): boolean {
    for (let other = this.#last[this.#slotOf(row)] ?? NONE; other !== NONE; other = this.#before[other] ?? NONE)
      if (this.nameless(other).inode === inode) return true;
    return false;
  }

  #start(row: number): number {
    return this.#starts[row] as number;
  }

  #textOf(start: number, end: number): string {
    return decodePath(this.bytes.subarray(start, Math.min(end, start + LONGEST_TEXT)));
  }

  #fill(): void {
    const { bytes } = this;
    let line = 0;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      line += 1;
      const parts = readLine(bytes, start);
      if (parts === undefined) this.unparsable.push({ line, text: this.#textOf(start, end) });
      else this.#add(start, parts.pathEnd);
      start = end + 1;
    }
  }

  #add(start: number, pathEnd: number): void {
    const row = this.#count;
    this.#count += 1;
    this.#starts[row] = start;
    this.#hashes[row] = hashOf(this.bytes, start, pathEnd);
    const slot = this.#slotOf(row);
    const before = this.#last[slot] as number;
    this.#before[row] = before;
    this.#last[slot] = row;
    if (before !== NONE) this.#supersede(row);
  }

  #supersede(row: number): void {
    const { inode } = this.nameless(row);
    for (let other = this.#before[row] ?? NONE; other !== NONE; other = this.#before[other] ?? NONE)
      if (this.#superseded[other] === 0 && this.nameless(other).inode === inode) this.#superseded[other] = 1;
  }

  /** The slot of this row's path, or the free one that is to be its own. */
  #slotOf(row: number): number {
    const mask = this.#last.length - 1;
    let slot = (this.#hashes[row] as number) & mask;
    for (let other = this.#last[slot] as number; other !== NONE; other = this.#last[slot] as number) {
      if (other === row || this.#hasSamePath(other, row)) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #hasSamePath(row: number, other: number): boolean {
    if (this.#hashes[row] !== this.#hashes[other]) return false;
    const { bytes } = this;
    let at = this.#start(row);
    let there = this.#start(other);
    for (; bytes[at] === bytes[there]; at += 1, there += 1) if (bytes[at] === TAB) return true;
    return false;
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
  return hash ^ (hash >>> 15);
}
