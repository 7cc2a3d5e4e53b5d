import type { ObservedFile } from '../look/observation.ts';
import type { ReadPosFile } from '../look/snapshot.ts';
import { encodePath } from '../pos-file/path-bytes.ts';
import { brokenIn, entryKey, type PositionEntry } from '../pos-file/pos-file.ts';
import { counted, formatBytes } from '../text/units.ts';

export interface Finding {
  readonly what: 'damaged' | 'duplicated' | 'dead';
  /** Counts paths or inodes for `duplicated`, else lines. */
  readonly count: number;
  readonly why: string;
}

/** Fewer dead lines do not matter. */
const MANY = 100;
/** After a path: tab, 16 digits, tab, 16 digits, newline. */
const LINE_END = 35;

/**
 * `byInode`: the source has follow_inodes; undefined if unknown. As in clear-code/fluent-tail_checker, watched entries are duplicated
 * if they share a path, or an inode with follow_inodes. If that is unknown, they must share both.
 */
export function diagnose(
  { entries, replaced, unparsable }: Pick<ReadPosFile, 'entries' | 'replaced' | 'unparsable'>,
  byInode: boolean | undefined,
  files: readonly ObservedFile[],
): readonly Finding[] {
  const [broken, strays] = [brokenIn(unparsable), straysIn(files)];
  const lines = [...replaced, ...entries];
  // Only a replaced line has the path and the inode of another one.
  const duplicated = byInode === undefined && replaced.length === 0 ? 0 : duplicatesIn(lines, byInode);
  // A compaction removes unwatched and replaced lines (position_file.rb, try_compact).
  const dead = [...replaced, ...entries.filter(({ position }) => position === null)];
  const damaged = broken.length + strays;
  const findings: Finding[] = [];
  if (damaged > 0) findings.push({ what: 'damaged', count: damaged, why: whyDamaged(broken.length, strays) });
  if (duplicated > 0) {
    const what = `${counted(duplicated, byInode ? 'inode' : 'path')} with several entries`;
    findings.push({ what: 'duplicated', count: duplicated, why: `${what}, ${SIGN_OF}, or of ${LOST_SIGHT}` });
  }
  if (dead.length >= MANY)
    findings.push({ what: 'dead', count: dead.length, why: whyDead(dead, lines.length) });
  return findings;
}

function duplicatesIn(entries: readonly PositionEntry[], byInode: boolean | undefined): number {
  const keyOf = (entry: PositionEntry) =>
    byInode === undefined ? entryKey(entry) : byInode ? entry.inode : entry.path;
  const [seen, duplicated] = [new Set<string>(), new Set<string>()];
  for (const entry of entries) {
    // Inode 0: in_tail has not opened the file yet.
    if (entry.position === null || (byInode === true && entry.inode === '0')) continue;
    const key = keyOf(entry);
    if (seen.has(key)) duplicated.add(key);
    seen.add(key);
  }
  return duplicated.size;
}

/** Entries without a file whose inode another entry has at its path: a position that is written into another line spoils its path. */
function straysIn(files: readonly ObservedFile[]): number {
  const missing = files.filter(({ state }) => state === 'missing');
  if (missing.length === 0) return 0;
  const there = new Set(files.flatMap(({ state, inode }) => (state === 'missing' ? [] : inode)));
  return missing.filter(({ inode }) => there.has(inode)).length;
}

function whyDamaged(broken: number, strays: number): string {
  const what = [
    ...(broken === 0 ? [] : [`${counted(broken, 'line')} that cannot be parsed`]),
    ...(strays === 0 ? [] : [`${counted(strays, 'line')} with no file and the inode of another line`]),
  ];
  const other = broken > 0 ? 'a crash of the machine' : 'a file that was renamed';
  return `damaged: ${what.join(' and ')}, ${SIGN_OF}, or of ${other}`;
}

const SIGN_OF = 'a sign of another Fluentd that writes this pos file, too, so that lines arrive twice';
const LOST_SIGHT = 'fluentd#3614, which loses lines, and is fixed in Fluentd 1.16.3';

function whyDead(dead: readonly PositionEntry[], all: number): string {
  const bytes = dead.reduce((sum, { path }) => sum + encodePath(path).length + LINE_END, 0);
  return `${dead.length} of ${counted(all, 'line')} are dead, ${formatBytes(bytes)}: set pos_file_compaction_interval`;
}
