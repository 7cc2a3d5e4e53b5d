import { decodePath } from './path-bytes.ts';

/** What stands behind the path in a line of a pos file: `path \t hex position \t hex inode`, whatever follows. */
export interface LineValues {
  /** null: unwatched. */
  readonly position: number | null;
  /** Decimal. */
  readonly inode: string;
}

/** A line that Fluentd itself would warn about as "Unparsable line in pos_file". */
export interface UnparsableLine {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  /** The last line, which no newline ends. */
  readonly torn?: true;
  /** The line begins with an entry, and a second one stands behind it (fluentd#2918): both are in use until Fluentd starts again. */
  readonly merged?: true;
}

export const NEWLINE = 0x0a;
const TAB = 0x09;
/** So many bytes of an unparsable line are kept. A line with a longer path is unparsable: Linux takes 4,096 bytes. */
const LONGEST_TEXT = 8_192;
/** A number of three million digits takes ten seconds. */
const MOST_DIGITS = 1_024;
/** Entries in a line of others: only a defect of Fluentd makes them. */
const MOST_MERGED = 100;
/** Tab, 16 digits, tab, 16 digits: as Fluentd writes it. */
const LENGTH_BEHIND_PATH = 34;
const UNWATCHED = 0xffff_ffff_ffff_ffffn;
/** A larger position is taken for this one: no file is as large, and a number would not be exact. */
export const LARGEST_POSITION = Number.MAX_SAFE_INTEGER;

/** Is told what stands in a pos file. */
export interface LineVisitor {
  /** Where an entry starts, and where its path ends. */
  entry(start: number, pathEnd: number): void;
  /** A line that is not one whole entry; `read` gives it. */
  unparsable(read: () => UnparsableLine): void;
}

/** Goes through a pos file from its first byte to its last. Of a line with several entries each is told, and the line too. */
export function scanLines(bytes: Uint8Array, visitor: LineVisitor): void {
  let line = 0;
  let start = 0;
  let room = MOST_MERGED;
  const tell = (from: number, to: number, flaw: Pick<UnparsableLine, 'torn' | 'merged'>) => {
    const at = line;
    visitor.unparsable(() => ({ line: at, text: textOf(bytes, from, to), ...flaw }));
  };
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    line += 1;
    const pathEnd = pathEndOf(bytes, start, end);
    if (pathEnd < 0) tell(start, end, {});
    else {
      visitor.entry(start, pathEnd);
      const behind = entryBehind(bytes, pathEnd, end);
      if (behind >= 0) tell(start, end, { merged: true });
      room -= scanMerged(bytes, { from: behind, end, most: room }, visitor);
    }
    start = end + 1;
  }
  line += 1;
  if (start < bytes.length) tell(start, bytes.length, { torn: true });
}

/** The entries behind the first one of a line; gives how many. */
function scanMerged(bytes: Uint8Array, { from, end, most }: Rest, visitor: LineVisitor): number {
  let count = 0;
  for (let start = from; start >= 0 && count < most; count += 1) {
    const pathEnd = pathEndOf(bytes, start, end);
    visitor.entry(start, pathEnd);
    start = entryBehind(bytes, pathEnd, end);
  }
  return count;
}

interface Rest {
  /** -1: there is none. */
  readonly from: number;
  readonly end: number;
  /** So many entries count. */
  readonly most: number;
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return decodePath(bytes.subarray(start, Math.min(end, start + LONGEST_TEXT)));
}

/**
 * Where the path of the entry that starts at `start` ends; -1: Fluentd cannot parse the line either, or could not have written it. As
 * POSITION_FILE_ENTRY_REGEX in lib/fluent/plugin/in_tail/position_file.rb: a prefix match; what follows the inode is ignored.
 */
export function pathEndOf(bytes: Uint8Array, start: number, lineEnd: number): number {
  const pathEnd = firstTab(bytes, start, Math.min(lineEnd, start + LONGEST_TEXT));
  if (pathEnd < 0 || pathEnd === start) return -1;
  const positionEnd = endOfDigits(bytes, pathEnd + 1);
  if (!isNumber(pathEnd + 1, positionEnd) || bytes[positionEnd] !== TAB) return -1;
  return isNumber(positionEnd + 1, endOfDigits(bytes, positionEnd + 1)) ? pathEnd : -1;
}

function isNumber(start: number, end: number): boolean {
  return end > start && end - start <= MOST_DIGITS;
}

/** The values of a line that is an entry. */
export function valuesAfter(bytes: Uint8Array, pathEnd: number): LineValues {
  const positionEnd = endOfDigits(bytes, pathEnd + 1);
  const inodeEnd = endOfDigits(bytes, positionEnd + 1);
  return {
    position: positionOf(bytes, pathEnd + 1, positionEnd),
    inode: String(hexValue(bytes, positionEnd + 1, inodeEnd)),
  };
}

/** Where a further entry begins in the line of one; -1: none does. */
function entryBehind(bytes: Uint8Array, pathEnd: number, lineEnd: number): number {
  if (lineEnd - pathEnd === LENGTH_BEHIND_PATH) return -1;
  const inodeEnd = endOfDigits(bytes, endOfDigits(bytes, pathEnd + 1) + 1);
  return inodeEnd < lineEnd && pathEndOf(bytes, inodeEnd, lineEnd) >= 0 ? inodeEnd : -1;
}

/** Why a line is none, for people. */
export function whyUnparsable({ text, torn, merged }: Omit<UnparsableLine, 'line'>): string {
  if (torn) return 'it is torn: no newline ends it';
  if (merged)
    return 'it holds two entries, and at its next start Fluentd reads only the first (fluentd#2918)';
  const [path = '', position, inode] = text.split('\t');
  if (text === '') return 'it is empty';
  if (/^\0+$/.test(text)) return 'nothing but NUL bytes, as a crash of the machine leaves them';
  if (position === undefined)
    return text.length < LONGEST_TEXT ? 'it holds no tab' : 'it begins with more than any path';
  if (path === '') return 'its path is empty';
  if (!/^[0-9a-f]+$/i.test(position)) return 'its position is no hexadecimal number';
  if (inode === undefined) return 'it holds no inode';
  return inode.length > MOST_DIGITS ? 'its inode is too long' : 'its inode is no hexadecimal number';
}

/** Not `indexOf`: without a tab in the line it would read on to the end of the file. */
function firstTab(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at += 1) if (bytes[at] === TAB) return at;
  return -1;
}

function endOfDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && digitOf(bytes[at] as number) >= 0) at += 1;
  return at;
}

function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function positionOf(bytes: Uint8Array, start: number, end: number): number | null {
  const value = hexValue(bytes, start, end);
  return value === UNWATCHED ? null : Math.min(Number(value), LARGEST_POSITION);
}

/** A number where it is exact as one. */
function hexValue(bytes: Uint8Array, start: number, end: number): number | bigint {
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 16 + digitOf(bytes[at] as number);
  return value <= Number.MAX_SAFE_INTEGER ? value : exactValueOf(bytes, start, end);
}

function exactValueOf(bytes: Uint8Array, start: number, end: number): bigint {
  return BigInt(`0x${decodePath(bytes.subarray(start, end))}`);
}
