import type { FollowedReading } from '../look/snapshot.ts';
import { counted, formatBytes, type Millis } from '../text/units.ts';
import type { Abandoned, Awaited, EntryMemory, ObservedFile } from './observation.ts';

/** in_tail looks each second: a position that has stood for longer beside bytes was held up, and not just about to move. */
export const HELD_UP: Millis = 2_000;

/** Bytes that were left when the file was last seen. */
export function restOf({ whole, reached }: EntryMemory): number {
  return whole === null || reached === null ? 0 : Math.max(0, whole - reached);
}

/**
 * in_tail lets go of a file that is gone from its path, after rotate_wait and whatever is left of it: it has read the rest
 * from memory unless it was held up, or a limit slows it down (in_tail.rb, detach_watcher_after_rotate_wait).
 */
export function letGo(
  { path, state }: ObservedFile,
  before: EntryMemory | undefined,
  now: EntryMemory | undefined,
): Abandoned | undefined {
  if (state !== 'unwatched' || before === undefined || before.state === 'unwatched') return undefined;
  const bytes = now === undefined ? 0 : restOf(now);
  return bytes > 0 && now?.heldUp === true ? { path, bytes } : undefined;
}

/** The files that wait for in_tail to find them. */
export function awaitedIn(
  followed: readonly FollowedReading[],
  isKnown: (path: string, inode: string) => boolean,
): ReadonlyMap<string, Awaited> {
  const files = followed.flatMap((source) => source.files);
  const waiting = files.filter(({ path, inode, size }) => size > 0 && !isKnown(path, inode));
  return new Map(waiting.map(({ path, inode, size }) => [inode, { path, size }]));
}

export function describeAbandoned(files: readonly Abandoned[]): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const [first] = files;
  return `${counted(files.length, 'file')} went away unread, ${formatBytes(bytes)}, first ${first?.path}`;
}
