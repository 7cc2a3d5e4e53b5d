import type { KeyedEntry } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import { lagOf } from './file-state.ts';
import type { Known, ObservedFile } from './observation.ts';
import type { FileLook } from './snapshot.ts';

/** A file is blocked if bytes are left and its position has not moved for this long. */
const BLOCKED_AFTER: Millis = 10_000;

interface PosFileView {
  readonly path: string;
  readonly at: Millis;
  isLast(entry: KeyedEntry): boolean;
  hasInode(entry: KeyedEntry, inode: string): boolean;
}

/** The state of one entry's file; undefined if a later entry replaces this one. */
export function judge(
  entry: KeyedEntry,
  look: FileLook,
  known: Known | undefined,
  posFile: PosFileView,
): ObservedFile | undefined {
  const { key, path, position, inode } = entry;
  const { atPath } = look;
  // With follow_inodes several entries of a path are different files. Otherwise Fluentd uses the last entry.
  const lastSize = lastSizeOf(known);
  const isSeen = atPath?.inode === inode || lastSize !== null;
  if (!isSeen && !posFile.isLast(entry)) return undefined;
  // When in_tail lets a file go, the position becomes null. That is no progress.
  const isStill = known !== undefined && (known.position === position || position === null);
  const movedAt = isStill ? known.movedAt : posFile.at;
  const leftSince = known?.leftSince ?? posFile.at;
  // After "Skip update_watcher" Fluentd keeps an entry with inode 0 next to the file's own entry (in_tail.rb, update_watcher).
  const succeeded = atPath !== undefined && atPath.inode !== inode && posFile.hasInode(entry, atPath.inode);
  const { state, size, lag, read } = lagOf(entry, look, lastSize, succeeded);
  const isStuck = state === 'behind' && posFile.at - Math.max(movedAt, leftSince) >= BLOCKED_AFTER;
  // No spread: for a million entries it takes three times as long.
  return {
    posFile: posFile.path,
    key,
    path,
    position,
    inode,
    state: isStuck ? 'blocked' : state,
    size,
    lag,
    read,
    movedAt,
    leftSince: read ? undefined : leftSince,
  };
}

/** The last size. That of a truncated file is forgotten: nothing of its new content is read, whatever the old position says. */
export function lastSizeOf(known: Known | undefined): number | null {
  return known === undefined || known.state === 'truncated' ? null : known.size;
}
