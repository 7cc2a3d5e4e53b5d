import type { PositionEntry } from '../pos-file/pos-file.ts';
import { groupedBy } from '../text/lists.ts';
import { andMore } from '../text/units.ts';
import type { ObservedFile } from './observation.ts';
import type { FollowedReading } from './snapshot.ts';

export function unlistedIn(followed: readonly FollowedReading[]): readonly string[] {
  const byReason = groupedBy(followed, ({ unknown = '' }) => unknown);
  return [...byReason].flatMap(([why, sources]) => {
    const posFiles = [...new Set(sources.map(({ posFile }) => posFile))];
    return why === '' ? [] : [`posidle cannot tell which files belong to ${andMore(posFiles)}: ${why}`];
  });
}

/** The files without an entry. An unwatched entry does not count. */
export function undiscoveredIn(
  { posFile, byInode, files }: FollowedReading,
  entries: readonly PositionEntry[],
): readonly ObservedFile[] {
  const living = entries.filter(({ position }) => position !== null);
  const known = new Set(living.map(({ path, inode }) => (byInode ? inode : path)));
  const found = files.filter(({ path, inode }) => !known.has(byInode ? inode : path));
  return found.map(({ path, inode, size }) => ({
    ...{ posFile, key: path, path, inode, position: null, state: 'undiscovered' as const },
    ...{ size, lag: size, read: size === 0, movedAt: Number.NEGATIVE_INFINITY, leftSince: undefined },
  }));
}
