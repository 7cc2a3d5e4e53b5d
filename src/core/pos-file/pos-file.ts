import { decodePath } from './path-bytes.ts';

/** One line of a pos file: `path \t hex position \t hex inode`. */
export interface PositionEntry {
  /** Bytes that are not UTF-8 become lone surrogates (path-bytes.ts). */
  readonly path: string;
  /** Bytes that in_tail has handed to the buffer; null if it let the file go (unwatched). */
  readonly position: number | null;
  /** A decimal number of 64 bits; '0' until in_tail opens the file. */
  readonly inode: string;
}

/** A line that is no entry. Fluentd warns: "Unparsable line in pos_file". */
export interface UnparsableLine {
  readonly line: number;
  readonly text: string;
  /** It is the last line and has no newline. */
  readonly torn?: true;
}

export interface PosFile {
  readonly entries: readonly PositionEntry[];
  readonly unparsable: readonly UnparsableLine[];
}

export const NEWLINE = 0x0a;
const TAB = 0x09;
/** A larger position becomes this one, which is beyond every file and the last exact number. */
export const LARGEST_POSITION = Number.MAX_SAFE_INTEGER;

/** A hostile pos file may have millions of unparsable lines. */
const KEPT_UNPARSABLE = 1_000;
/** posidle reads only this many bytes of a line. A path on Linux has at most 4,096. */
const LONGEST_LINE = 8_192;
/**
 * POSITION_FILE_ENTRY_REGEX in lib/fluent/plugin/in_tail/position_file.rb, which ignores what follows the inode. The limit of 1,024 digits
 * is posidle's: a number of three million digits takes ten seconds.
 */
const ENTRY = /^[^\t]+\t([0-9a-f]{1,1024})\t([0-9a-f]{1,1024})(?![0-9a-f])/i;
const UNWATCHED = /^0*f{16}$/i;

/**
 * All entries of a pos file, in its order, and up to 1,000 unparsable lines. Never throws. Keeps duplicates. A last line without its
 * newline is no entry yet, and counts as unparsable and `torn`.
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
    const [, position, inode] = ENTRY.exec(textOf(bytes, start, end)) ?? [];
    if (position === undefined || inode === undefined) tell(end, {});
    else entries.push({ path: pathAt(bytes, start), position: positionOf(position), inode: inodeOf(inode) });
    start = end + 1;
    line += 1;
  }
  if (start < bytes.length) tell(bytes.length, { torn: true });
  return { entries, unparsable };
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return decodePath(bytes.subarray(start, Math.min(end, start + LONGEST_LINE)));
}

/** A copy: a part of the line's text would keep the whole text, and with very many lines the garbage collector moves it. */
function pathAt(bytes: Uint8Array, start: number): string {
  return decodePath(bytes.subarray(start, bytes.indexOf(TAB, start)));
}

function positionOf(digits: string): number | null {
  return UNWATCHED.test(digits) ? null : Math.min(Number.parseInt(digits, 16), LARGEST_POSITION);
}

function inodeOf(digits: string): string {
  const value = Number.parseInt(digits, 16);
  return String(value <= Number.MAX_SAFE_INTEGER ? value : BigInt(`0x${digits}`));
}

/** The lines that hide a file. A torn one may be whole at the next look. */
export function brokenIn(unparsable: readonly UnparsableLine[]): readonly UnparsableLine[] {
  return unparsable.filter(({ torn }) => !torn);
}

export function whyUnparsable({ text, torn }: Omit<UnparsableLine, 'line'>): string {
  if (torn) return 'it is torn: no newline ends it';
  if (text === '') return 'it is empty';
  return /^\0+$/.test(text)
    ? 'nothing but NUL bytes, as a crash of the machine leaves them'
    : 'it is no path, position and inode, with a tab between them';
}

const DATABASE = new TextEncoder().encode('SQLite format 3\0');

export function isDatabase(bytes: Uint8Array): boolean {
  return DATABASE.every((byte, at) => bytes[at] === byte);
}

export const IS_DATABASE = "is an SQLite database, such as Fluent Bit's. posidle reads Fluentd's pos files";

/** What a non-empty file is that is no pos file; undefined if it is one. */
export function flawOf(bytes: Uint8Array, { entries }: PosFile): string | undefined {
  if (isDatabase(bytes)) return IS_DATABASE;
  return entries.length > 0 ? undefined : 'is no pos file: no whole line of it has path, position and inode';
}

/** An entry with its `entryKeyIn`. */
export interface KeyedEntry extends PositionEntry {
  readonly key: string;
}

/**
 * The last entry for each pair of path and inode, as in Fluentd, and the entries that a later line replaces. Entries with the same path but
 * different inodes stay: with follow_inodes they are different files.
 */
export function latestIn(posFile: string, all: readonly PositionEntry[]) {
  const latest = new Map<string, KeyedEntry>();
  const replaced: PositionEntry[] = [];
  for (const entry of all) {
    const key = entryKeyIn(posFile, entry);
    const earlier = latest.get(key);
    if (earlier !== undefined) replaced.push(earlier);
    // The entry has the place of the later line.
    if (earlier !== undefined) latest.delete(key);
    // No spread: for a million entries it takes three times as long.
    latest.set(key, { path: entry.path, position: entry.position, inode: entry.inode, key });
  }
  return { entries: [...latest.values()], replaced };
}

/** Identifies an entry in its pos file. A path there has no tab. */
export function entryKey({ path, inode }: Omit<PositionEntry, 'position'>): string {
  return `${path}\t${inode}`;
}

/** Identifies an entry among all pos files: two may have the same log file. */
export function entryKeyIn(posFile: string, entry: Omit<PositionEntry, 'position'>): string {
  return `${posFile}\t${entryKey(entry)}`;
}
