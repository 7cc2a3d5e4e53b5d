import { type FileState, lagOf } from '../look/file-state.ts';
import type { FileLook } from '../look/snapshot.ts';
import type { KeyedEntry } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import type { KnownEntry, ObservedFile } from './observation.ts';

/** A position that stands still for this long with bytes left is blocked. */
export const BLOCKED_AFTER: Millis = 10_000;

/** Its size is of the file that the entry means. */
export const AT_ITS_PATH: ReadonlySet<FileState> = new Set([
  'caught-up',
  'partial-line',
  'behind',
  'blocked',
  'truncated',
]);

interface PosFileView {
  readonly path: string;
  readonly at: Millis;
  /** When the look before was; undefined: this is the first. */
  readonly before: Millis | undefined;
  readonly writtenAgo: Millis;
  isLast(entry: KeyedEntry): boolean;
  hasInode(entry: KeyedEntry, inode: string): boolean;
}

/** What a look makes of one entry. undefined: it no longer counts. */
export function judge(
  entry: KeyedEntry,
  look: FileLook,
  known: KnownEntry | undefined,
  posFile: PosFileView,
): ObservedFile | undefined {
  // With follow_inodes several lines of a path are different files, and both exist. Otherwise Fluentd uses the last line.
  const isOnDisk = look.atPath?.inode === entry.inode || look.renamed !== undefined;
  if (!isOnDisk && !posFile.isLast(entry)) return undefined;
  const { key, path, position, inode } = entry;
  const movedAt = movementOf(entry, known, posFile);
  const standsSince = Math.max(movedAt, known?.leftSince ?? posFile.at);
  // The file that stands at the path now has an entry of its own.
  const { atPath } = look;
  const succeeded = atPath !== undefined && atPath.inode !== inode && posFile.hasInode(entry, atPath.inode);
  const { state, size, lag, read } = lagOf(entry, look, {
    lastSize: known?.size ?? null,
    stuck: posFile.at - standsSince >= BLOCKED_AFTER,
    succeeded,
  });
  // Not by spreading: with a million entries it takes three times as long.
  return { posFile: posFile.path, key, path, position, inode, state, size, lag, read, movedAt };
}

/** The memory of an entry after a look. Where nothing has changed it is the same object: of 20,000 entries others take 30 MB more. */
export function rememberEntry(file: ObservedFile, known: KnownEntry | undefined, at: Millis): KnownEntry {
  const { path, inode, position, movedAt, state } = file;
  const size = sizeToRemember(file, known);
  const leftSince = file.read ? undefined : (known?.leftSince ?? at);
  const isAtPath = AT_ITS_PATH.has(state);
  const isSame =
    known?.position === position &&
    known.size === size &&
    known.movedAt === movedAt &&
    known.leftSince === leftSince &&
    known.isAtPath === isAtPath;
  return isSame ? known : { path, inode, position, size, movedAt, leftSince, isAtPath };
}

/** When an entry moved last: dated by the pos file's own mtime, between the look before and this one. */
function movementOf(
  { position }: KeyedEntry,
  known: KnownEntry | undefined,
  { at, before, writtenAgo }: PosFileView,
): Millis {
  // in_tail letting a file go (position null) is no progress in reading.
  if (known !== undefined && (known.position === position || position === null)) return known.movedAt;
  if (before === undefined) return at;
  return Math.max(Math.min(before + 1, at), at - Math.max(0, writtenAgo));
}

/** What was written after a truncation was never read, whatever the old position says. */
function sizeToRemember({ state, size }: ObservedFile, known: KnownEntry | undefined): number | null {
  if (state === 'missing' || state === 'unreadable' || state === 'rotated')
    return size ?? known?.size ?? null;
  return state === 'truncated' ? null : size;
}
