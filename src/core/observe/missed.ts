import type { Snapshot } from '../look/snapshot.ts';
import { NOT_THERE } from './doubt.ts';
import type { Memory, Missed, Observation } from './observation.ts';

/** So many are remembered, the newest: a hostile main may make and remove files without end. */
const MOST_MISSED = 1_000;

type Found = Pick<Observation, 'undiscovered' | 'unlisted' | 'unknown'> & Pick<Snapshot, 'followed'>;

/** Files that in_tail had still to find at the last look, and that are gone now, or shorter than they were. */
export function missedIn(memory: Memory, found: Found): Pick<Memory, 'awaited' | 'missed'> {
  const { awaited, missed } = memory;
  if (!isBelieved(found, memory)) return { awaited, missed };
  const sizes = new Map(found.followed.flatMap(({ files }) => files.map(({ inode, size }) => [inode, size])));
  const now = new Map<string, Missed>(missed);
  for (const { path, inode, size: bytes } of awaited) {
    const size = sizes.get(inode);
    if (size !== undefined && size >= bytes) continue;
    const how = size === undefined ? 'gone' : 'cut short';
    now.set(`${how} ${inode}`, { path, inode, bytes, how });
  }
  return {
    awaited: found.undiscovered.filter(({ size }) => size > 0),
    missed: new Map([...now].slice(-MOST_MISSED)),
  };
}

/** A pos file that is half written shows fewer entries than there are. Before Fluentd writes it there are none. */
function isBelieved({ unknown, unlisted }: Found, { filled }: Memory): boolean {
  return (
    unlisted.length === 0 &&
    unknown.every(({ path, why, empty }) => (empty || why === NOT_THERE) && !filled.has(path))
  );
}
