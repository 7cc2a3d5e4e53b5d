import type { FileLook } from '../look/snapshot.ts';
import { BLOCKED_AFTER } from '../observe/judge-entry.ts';
import type { KnownEntry, ObservedFile } from '../observe/observation.ts';
import type { PositionEntry } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';

/** in_tail looks each second: what is left for longer while the pos file has long stood still is held up. */
export const CONFIRM_AFTER: Millis = 2_000;

/** A log that is being written has bytes left: whether they have just come, or in_tail stands still, one look cannot tell. */
export function isInDoubt({ state }: ObservedFile, posFileAge: Millis): boolean {
  return state === 'behind' && posFileAge >= BLOCKED_AFTER;
}

/**
 * What stands in for a memory in the first look: neither the pos file nor the log has changed for a while. Or the log has, and
 * `wasLeft`: what was left CONFIRM_AFTER ago still is.
 */
export function memoryByAges(
  { path, inode, position }: PositionEntry,
  { atPath }: FileLook,
  {
    at,
    before,
    writtenAgo,
  }: { readonly at: Millis; readonly before: Millis | undefined; readonly writtenAgo: Millis },
  wasLeft = false,
): KnownEntry | undefined {
  if (before !== undefined) return undefined;
  const since = at - (wasLeft ? writtenAgo : Math.min(writtenAgo, atPath?.writtenAgo ?? 0));
  return {
    path,
    inode,
    position,
    size: null,
    movedAt: since,
    leftSince: since,
    isHere: atPath?.inode === inode,
  };
}

/** How long ago the position moved, where nobody has seen it move; null: it came through a pipe. */
export function ageOf({ lag }: ObservedFile, { atPath }: FileLook, posFileAge: Millis | null): Millis | null {
  // What is read was read right after it was written, at the latest when the pos file was.
  const isRead = lag === 0 && posFileAge !== null;
  return isRead ? Math.max(posFileAge, atPath?.writtenAgo ?? 0) : posFileAge;
}
