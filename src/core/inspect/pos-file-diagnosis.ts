import type { EntryRows } from '../pos-file/entry-rows.ts';
import { entryKey } from '../pos-file/pos-file.ts';
import { counted, formatBytes } from '../text/units.ts';
import type { InspectedRows } from './rows.ts';

/** Something odd in a pos file itself. */
export interface Finding {
  readonly what: 'duplicated' | 'dead' | 'held-back';
  /** Paths or inodes, lines, files. */
  readonly count: number;
  /** What it is a sign of, and what mends it. */
  readonly why: string;
}

/** Fewer dead lines are no matter. */
const MANY = 100;

/**
 * `byInode`: follow_inodes; undefined: not known. What counts as duplicated is what clear-code/fluent-tail_checker counts: entries that
 * are watched, with one path, or one inode with follow_inodes. Where that is not known, with both.
 */
export function diagnose(entries: InspectedRows, byInode: boolean | undefined): readonly Finding[] {
  const { rows } = entries;
  const duplicated = duplicatesIn(rows, byInode);
  const dead = deadIn(rows);
  const held = byInode === true ? heldBackIn(entries) : 0;
  return [
    ...(duplicated === 0
      ? []
      : [{ what: 'duplicated', count: duplicated, why: whyDuplicated(duplicated, byInode) } as const]),
    ...(dead.lines < MANY
      ? []
      : [{ what: 'dead', count: dead.lines, why: whyDead(dead, rows.count) } as const]),
    ...(held === 0 ? [] : [{ what: 'held-back', count: held, why: whyHeld(held) } as const]),
  ];
}

/** A pos file may have a million entries: only of paths that stand there several times a set is made. */
function duplicatesIn(rows: EntryRows, byInode: boolean | undefined): number {
  if (byInode === true) return duplicateInodesIn(rows);
  const keyOf = (row: number) => (byInode === false ? rows.path(row) : entryKey(rows.entry(row)));
  const living = function* (isWanted: (row: number) => boolean) {
    for (let row = 0; row < rows.count; row += 1)
      if (isWanted(row) && rows.position(row) !== null) yield keyOf(row);
  };
  const overtaken = new Set(living((row) => !rows.isLast(row)));
  if (overtaken.size === 0) return 0;
  const counts = new Map<string, number>();
  for (const key of living(() => true)) if (overtaken.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts.values()].filter((count) => count > 1).length;
}

function duplicateInodesIn(rows: EntryRows): number {
  const inodes = new Float64Array(rows.count);
  let count = 0;
  for (let row = 0; row < rows.count; row += 1) {
    const inode = Number(rows.inode(row));
    // 0: in_tail has not opened the file yet.
    if (inode === 0 || rows.position(row) === null) continue;
    inodes[count] = inode;
    count += 1;
  }
  const sorted = inodes.subarray(0, count).sort();
  return sorted.filter((inode, at) => inode === sorted[at - 1] && inode !== sorted[at - 2]).length;
}

interface Dead {
  readonly lines: number;
  readonly bytes: number;
}

/** Lines that a compaction leaves out: unwatched ones, and those that a later one replaces (position_file.rb, try_compact). */
function deadIn(rows: EntryRows): Dead {
  let [lines, bytes] = [0, 0];
  for (let row = 0; row < rows.count; row += 1) {
    if (!rows.isSuperseded(row) && rows.position(row) !== null) continue;
    lines += 1;
    bytes += rows.lineLength(row);
  }
  return { lines, bytes };
}

function heldBackIn(entries: InspectedRows): number {
  let count = 0;
  for (let row = 0; row < entries.rows.count; row += 1) if (entries.state(row) === 'blocked') count += 1;
  return count;
}

function whyDuplicated(count: number, byInode: boolean | undefined): string {
  if (byInode)
    return `${counted(count, 'inode')} with several entries: Fluentd may read a file twice, or not at all`;
  return `${counted(count, 'path')} with several entries, a sign of fluentd#3614: lines are lost; fixed in Fluentd 1.16.3`;
}

function whyDead({ lines, bytes }: Dead, all: number): string {
  return `${lines} of ${counted(all, 'line')} are dead, ${formatBytes(bytes)}: set pos_file_compaction_interval`;
}

function whyHeld(count: number): string {
  return `${counted(count, 'file')} not read on with follow_inodes, which can be fluentd#4190: fixed in Fluentd 1.16.2`;
}
