import { encodePath } from '../pos-file/path-bytes.ts';
import { entryKey, latestEntries, type PositionEntry } from '../pos-file/pos-file.ts';
import { counted, formatBytes } from '../text/units.ts';

export interface Finding {
  readonly what: 'duplicated' | 'dead';
  /** Paths or inodes, or lines. */
  readonly count: number;
  readonly why: string;
}

/** Fewer dead lines are no matter. */
const MANY = 100;
/** Behind a path: tab, 16 digits, tab, 16 digits, newline. */
const LINE_END = 35;

/**
 * `byInode`: follow_inodes; undefined: not known. What counts as duplicated is what clear-code/fluent-tail_checker counts: entries that
 * are watched, with one path, or one inode with follow_inodes. Where that is not known, with both.
 */
export function diagnose(
  entries: readonly PositionEntry[],
  byInode: boolean | undefined,
): readonly Finding[] {
  const duplicated = duplicatesIn(entries, byInode);
  const dead = deadIn(entries);
  const findings: readonly Finding[] = [
    { what: 'duplicated', count: duplicated, why: whyDuplicated(duplicated, byInode) },
    { what: 'dead', count: dead.length < MANY ? 0 : dead.length, why: whyDead(dead, entries.length) },
  ];
  return findings.filter(({ count }) => count > 0);
}

function duplicatesIn(entries: readonly PositionEntry[], byInode: boolean | undefined): number {
  const keyOf = (entry: PositionEntry) =>
    byInode === undefined ? entryKey(entry) : byInode ? entry.inode : entry.path;
  const [seen, duplicated] = [new Set<string>(), new Set<string>()];
  for (const entry of entries) {
    // 0: in_tail has not opened the file yet.
    if (entry.position === null || (byInode === true && entry.inode === '0')) continue;
    const key = keyOf(entry);
    if (seen.has(key)) duplicated.add(key);
    seen.add(key);
  }
  return duplicated.size;
}

/** Lines that a compaction leaves out: unwatched ones, and those that a later one replaces (position_file.rb, try_compact). */
function deadIn(entries: readonly PositionEntry[]): readonly PositionEntry[] {
  const latest = new Set(latestEntries(entries));
  return entries.filter((entry) => entry.position === null || !latest.has(entry));
}

function whyDuplicated(count: number, byInode: boolean | undefined): string {
  if (byInode)
    return `${counted(count, 'inode')} with several entries: Fluentd may read a file twice, or not at all`;
  return `${counted(count, 'path')} with several entries, a sign of fluentd#3614: lines are lost; fixed in Fluentd 1.16.3`;
}

function whyDead(dead: readonly PositionEntry[], all: number): string {
  const bytes = dead.reduce((sum, { path }) => sum + encodePath(path).length + LINE_END, 0);
  return `${dead.length} of ${counted(all, 'line')} are dead, ${formatBytes(bytes)}: set pos_file_compaction_interval`;
}
