import { decodePath } from './path-bytes.ts';
import { scanLines, type UnparsableLine, valuesAfter } from './pos-line.ts';

/** One line of a pos file: `path \t hex position \t hex inode`. */
export interface PositionEntry {
  /** As Fluentd wrote it; bytes that are not UTF-8 stand as lone surrogates (path-bytes.ts). */
  readonly path: string;
  /** Bytes handed to the buffer so far; null: in_tail let the file go (unwatched). */
  readonly position: number | null;
  /** Decimal, 64 bits; '0' while in_tail has not opened the file yet. */
  readonly inode: string;
}

export interface PosFile {
  readonly entries: readonly PositionEntry[];
  readonly unparsable: readonly UnparsableLine[];
}

/** A hostile pos file may hold millions of lines that are none. */
const KEPT_UNPARSABLE = 1_000;

/**
 * Every entry of a pos file, in its order; never throws. A last line without its newline is torn and no entry yet, and told as such.
 * Duplicates stay in: see `latestEntries`. Of lines that are no entry the first thousand are kept.
 */
export function parsePosFile(bytes: Uint8Array): PosFile {
  const entries: PositionEntry[] = [];
  const unparsable: UnparsableLine[] = [];
  scanLines(bytes, {
    entry: (start, pathEnd) =>
      entries.push({ path: decodePath(bytes.subarray(start, pathEnd)), ...valuesAfter(bytes, pathEnd) }),
    unparsable: (read) => {
      if (unparsable.length < KEPT_UNPARSABLE) unparsable.push(read());
    },
  });
  return { entries, unparsable };
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

/** What tells an entry from all others: two pos files may have one for the same log file. */
export function entryKeyIn(posFile: string, entry: Omit<PositionEntry, 'position'>): string {
  return `${posFile}\t${entryKey(entry)}`;
}
