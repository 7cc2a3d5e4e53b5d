import { hasUnread, lagOf } from '../look/file-state.ts';
import type { FileLook } from '../look/snapshot.ts';
import type { PositionEntry } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import type { EntryMemory, ObservedFile } from './observation.ts';

/** A position that stands still for this long with bytes left is blocked. */
export const BLOCKED_AFTER: Millis = 10_000;

/** What the judgement of an entry takes to know of its pos file. */
export interface PosFileView<Entry> {
  readonly path: string;
  /** When it was looked at. */
  readonly at: Millis;
  /** When the look before was; undefined: this is the first. */
  readonly before: Millis | undefined;
  /** How long ago it was written, by the wall clock. */
  readonly writtenAgo: Millis;
  /** Its `entryKeyIn`. */
  keyOf(entry: Entry): string;
  /** The entry is the last of its path. */
  isLast(entry: Entry): boolean;
  /** An entry with the same path has this inode. */
  hasInode(entry: Entry, inode: string): boolean;
}

/** What a look makes of one entry. undefined: it no longer counts. */
export function judge<Entry extends PositionEntry>(
  entry: Entry,
  look: FileLook,
  known: EntryMemory | undefined,
  posFile: PosFileView<Entry>,
): ObservedFile | undefined {
  // With follow_inodes several lines of a path are different files, and both exist. Otherwise Fluentd uses the last line.
  const isOnDisk = look.atPath?.inode === entry.inode || look.renamed !== undefined;
  if (!isOnDisk && !posFile.isLast(entry)) return undefined;
  const { path, position, inode } = entry;
  const movedAt = movementOf(entry, known, posFile);
  const standsSince = Math.max(movedAt, known?.leftSince ?? posFile.at);
  const { state, size, lag, read } = lagOf(entry, look, {
    lastSize: known?.size ?? null,
    neverSeen: known?.neverSeen ?? posFile.before === undefined,
    stuck: posFile.at - standsSince >= BLOCKED_AFTER,
    succeeded: isSucceeded(entry, look, posFile),
  });
  // Not by spreading: with a million entries it takes three times as long.
  const key = posFile.keyOf(entry);
  const born = (look.atPath?.inode === inode ? look.atPath : look.renamed?.stat)?.born;
  return { posFile: posFile.path, key, path, position, inode, state, size, lag, read, movedAt, born };
}

/** The file that stands at the path now has an entry of its own. */
export function isSucceeded<Entry extends PositionEntry>(
  entry: Entry,
  { atPath }: FileLook,
  posFile: PosFileView<Entry>,
): boolean {
  return atPath !== undefined && atPath.inode !== entry.inode && posFile.hasInode(entry, atPath.inode);
}

/** The memory of an entry after a look: the same object where nothing has changed. */
export function rememberEntry(
  file: ObservedFile,
  known: EntryMemory | undefined,
  at: Millis,
  isFirstLook = false,
): EntryMemory {
  const { position, movedAt, state } = file;
  const size = sizeToRemember(file, known);
  const leftSince = hasUnread(file) ? (known?.leftSince ?? at) : undefined;
  const neverSeen = size === null && state !== 'truncated' && (known?.neverSeen ?? isFirstLook);
  const isSame =
    known?.position === position &&
    known.size === size &&
    known.movedAt === movedAt &&
    known.leftSince === leftSince &&
    known.neverSeen === neverSeen;
  return isSame ? known : { position, size, movedAt, leftSince, neverSeen };
}

/** When an entry moved last: dated by the pos file's own mtime, between the look before and this one. */
function movementOf(
  { position }: PositionEntry,
  known: EntryMemory | undefined,
  { at, before, writtenAgo }: Pick<PosFileView<never>, 'at' | 'before' | 'writtenAgo'>,
): Millis {
  // in_tail letting a file go (position null) is no progress in reading.
  if (known !== undefined && (known.position === position || position === null)) return known.movedAt;
  if (before === undefined) return at;
  return Math.max(Math.min(before + 1, at), at - Math.max(0, writtenAgo));
}

/** What was written after a truncation was never read, whatever the old position says. */
function sizeToRemember(
  { state, size, read, position }: ObservedFile,
  known: EntryMemory | undefined,
): number | null {
  // What Fluentd had closed stays read when Fluentd is gone, too.
  if (state === 'missing') return size ?? known?.size ?? (read ? position : null);
  return state === 'truncated' ? null : size;
}
