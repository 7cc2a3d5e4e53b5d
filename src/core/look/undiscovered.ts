import type { PositionEntry } from '../pos-file/pos-file.ts';
import { groupedBy } from '../text/lists.ts';
import { andMore } from '../text/units.ts';
import type { Undiscovered } from './observation.ts';
import type { FollowedReading } from './snapshot.ts';

export function unlistedIn(followed: readonly FollowedReading[]): readonly string[] {
  const byReason = groupedBy(followed, ({ unknown = '' }) => unknown);
  return [...byReason].flatMap(([why, sources]) => {
    const posFiles = [...new Set(sources.map(({ posFile }) => posFile))];
    return why === '' ? [] : [`posidle cannot tell which files belong to ${andMore(posFiles)}: ${why}`];
  });
}

/** Whether all files of this pos file's sources are empty, so that it needs no entry. */
export function hasNothingToFollow(posFile: string, followed: readonly FollowedReading[]): boolean {
  const sources = followed.filter((source) => source.posFile === posFile);
  return (
    sources.length > 0 &&
    sources.every(({ files, unknown }) => unknown === undefined && files.every(({ size }) => size === 0))
  );
}

/** The files without an entry. An unwatched entry does not count. */
export function undiscoveredIn(
  followed: FollowedReading,
  entries: readonly PositionEntry[],
): readonly Undiscovered[] {
  const { posFile, byInode, files } = followed;
  const living = entries.filter(({ position }) => position !== null);
  const known = new Set(living.map(({ path, inode }) => (byInode ? inode : path)));
  const unknown = files.filter(({ path, inode }) => !known.has(byInode ? inode : path));
  return unknown.map((file) => ({ ...file, posFile }));
}
