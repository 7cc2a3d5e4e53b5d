import { counted } from '../text/units.ts';
import { decodePath } from './path-bytes.ts';

/** One line of a pos file: `path \t hex position \t hex inode`. */
export interface PositionEntry {
  /** As Fluentd wrote it; bytes that are not UTF-8 stand as lone surrogates (path-bytes.ts). */
  readonly path: string;
  /** Bytes handed to the buffer so far; null: in_tail let the file go (unwatched). */
  readonly position: number | null;
  /** Decimal, 64 bits; '0' while in_tail has not opened the file yet. */
  readonly inode: string;
}

/** A line that Fluentd itself would warn about as "Unparsable line in pos_file". */
export interface UnparsableLine {
  readonly line: number;
  readonly text: string;
  /** The last line, which no newline ends. */
  readonly torn?: true;
}

export interface PosFile {
  readonly entries: readonly PositionEntry[];
  readonly unparsable: readonly UnparsableLine[];
}

export const NEWLINE = 0x0a;
/** A larger position is taken for this one: no file is as large, and a number would not be exact. */
export const LARGEST_POSITION = Number.MAX_SAFE_INTEGER;

/** A hostile pos file may hold millions of lines that are none. */
const KEPT_UNPARSABLE = 1_000;
/** So many bytes of a line are read: Linux takes a path of 4,096. */
const LONGEST_LINE = 8_192;
/**
 * POSITION_FILE_ENTRY_REGEX in lib/fluent/plugin/in_tail/position_file.rb: what follows the inode is ignored. A number of three
 * million digits would take ten seconds.
 */
const ENTRY = /^([^\t]+)\t([0-9a-f]{1,1024})\t([0-9a-f]{1,1024})(?![0-9a-f])/i;
const UNWATCHED = /^0*f{16}$/i;

/**
 * Every entry of a pos file, in its order; never throws. A last line without its newline is torn and no entry yet, and told as such.
 * Duplicates stay in: see `latestEntries`. Of lines that are no entry the first thousand are kept.
 */
export function parsePosFile(bytes: Uint8Array): PosFile {
  const entries: PositionEntry[] = [];
  const unparsable: UnparsableLine[] = [];
  let [line, start] = [1, 0];
  const tell = (end: number, flaw: Pick<UnparsableLine, 'torn'>) => {
    if (unparsable.length < KEPT_UNPARSABLE)
      unparsable.push({ line, text: textOf(bytes, start, end), ...flaw });
  };
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    const entry = entryIn(textOf(bytes, start, end));
    if (entry === undefined) tell(end, {});
    else entries.push(entry);
    start = end + 1;
    line += 1;
  }
  if (start < bytes.length) tell(bytes.length, { torn: true });
  return { entries, unparsable };
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return decodePath(bytes.subarray(start, Math.min(end, start + LONGEST_LINE)));
}

function entryIn(text: string): PositionEntry | undefined {
  const [, path, position = '', inode = ''] = ENTRY.exec(text) ?? [];
  if (path === undefined) return undefined;
  return { path, position: positionOf(position), inode: inodeOf(inode) };
}

function positionOf(digits: string): number | null {
  return UNWATCHED.test(digits) ? null : Math.min(Number.parseInt(digits, 16), LARGEST_POSITION);
}

function inodeOf(digits: string): string {
  const value = Number.parseInt(digits, 16);
  return String(value <= Number.MAX_SAFE_INTEGER ? value : BigInt(`0x${digits}`));
}

export function whyUnparsable({ text, torn }: Omit<UnparsableLine, 'line'>): string {
  if (torn) return 'it is torn: no newline ends it';
  const [path = '', position, inode] = text.split('\t');
  if (text === '') return 'it is empty';
  if (/^\0+$/.test(text)) return 'nothing but NUL bytes, as a crash of the machine leaves them';
  if (position === undefined)
    return text.length < LONGEST_LINE ? 'it holds no tab' : 'it begins with more than any path';
  if (path === '') return 'its path is empty';
  if (!/^[0-9a-f]+$/i.test(position)) return 'its position is no hexadecimal number';
  if (inode === undefined) return 'it holds no inode';
  return /^[0-9a-f]{1025}/i.test(inode) ? 'its inode is too long' : 'its inode is no hexadecimal number';
}

const DATABASE = new TextEncoder().encode('SQLite format 3\0');

/** Fluent Bit keeps its positions in one. */
export function isDatabase(bytes: Uint8Array): boolean {
  return DATABASE.every((byte, at) => bytes[at] === byte);
}

export const IS_DATABASE =
  "it is an SQLite database, such as Fluent Bit's. posidle reads Fluentd's pos files";

/** Why a file that is not empty is none of Fluentd's; undefined: it is one. */
export function flawOf(bytes: Uint8Array, { entries, unparsable }: PosFile): string | undefined {
  if (isDatabase(bytes)) return IS_DATABASE;
  if (entries.length > 0) return undefined;
  const whole = unparsable.filter(({ torn }) => !torn).length;
  const what =
    whole === 0 ? 'it holds no whole line' : `${counted(whole, 'line')}, none of path, position and inode`;
  return `it is no pos file: ${what}`;
}

/**
 * The entries that count. Of several lines with the same path and inode the last wins, as in Fluentd. Lines of one path
 * with different inodes are kept apart: with follow_inodes they are different files.
 */
export function latestEntries(entries: readonly PositionEntry[]): readonly PositionEntry[] {
  const latest = new Map<string, PositionEntry>();
  for (const entry of entries) {
    const key = entryKey(entry);
    latest.delete(key);
    latest.set(key, entry);
  }
  return latest.size === entries.length ? entries : [...latest.values()];
}

/** An entry that counts, and its `entryKeyIn`. */
export interface KeyedEntry extends PositionEntry {
  readonly key: string;
}

/** The entries that count. What has not changed since they were read before is the very same object. */
export function keyedEntries(
  posFile: string,
  entries: readonly PositionEntry[],
  before: readonly KeyedEntry[] = [],
): readonly KeyedEntry[] {
  const isKnown = ({ path, inode }: PositionEntry, index: number) =>
    before[index]?.path === path && before[index].inode === inode;
  // So none of them stands there twice.
  const areKnown = entries.length === before.length && entries.every(isKnown);
  return (areKnown ? entries : latestEntries(entries)).map((entry, index) => {
    const { path, position, inode } = entry;
    const known = isKnown(entry, index) ? before[index] : undefined;
    return known?.position === position
      ? known
      : { path, position, inode, key: known?.key ?? entryKeyIn(posFile, entry) };
  });
}

/** What tells the entries of a pos file apart; a tab cannot stand in a path. */
export function entryKey({ path, inode }: Omit<PositionEntry, 'position'>): string {
  return `${path}\t${inode}`;
}

/** What an `entryKey` or an `entryKeyIn` stands for. */
export function entryOf(key: string): Omit<PositionEntry, 'position'> {
  const end = key.lastIndexOf('\t');
  return { path: key.slice(key.lastIndexOf('\t', end - 1) + 1, end), inode: key.slice(end + 1) };
}

/** The pos file of an `entryKeyIn`. */
export function posFileOf(key: string): string {
  return key.slice(0, key.indexOf('\t'));
}

/** What tells an entry from all others: two pos files may have one for the same log file. */
export function entryKeyIn(posFile: string, entry: Omit<PositionEntry, 'position'>): string {
  return `${posFile}\t${entryKey(entry)}`;
}
