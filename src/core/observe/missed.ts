import type { Snapshot } from '../look/snapshot.ts';
import { NOT_THERE } from './doubt.ts';
import { AT_ITS_PATH } from './judge-entry.ts';
import type { Memory, Missed, Observation } from './observation.ts';

/** So many are remembered, the newest: a hostile main may make and remove files without end. */
const MOST_MISSED = 1_000;

type Found = Pick<Observation, 'files' | 'unlisted' | 'unknown'> & Pick<Snapshot, 'followed' | 'at'>;

/** Files that in_tail had still to find at the last look, and that are gone now, or shorter than they were. */
export function missedIn(memory: Memory, found: Found): Pick<Memory, 'awaited' | 'missed'> {
  const { awaited, missed } = memory;
  if (!isBelieved(found, memory)) return { awaited, missed };
  const { files, followed, at: since } = found;
  const listed = followed.flatMap((source) => source.files);
  // The listing may be a second old: the look at an entry's file is not.
  const looked = files.filter((file): file is typeof file & { size: number } => AT_ITS_PATH.has(file.state));
  const sizes = new Map([...listed, ...looked].map(({ inode, size }) => [inode, size]));
  const now = new Map<string, Missed>(missed);
  for (const { path, inode, size: before } of awaited.values()) {
    const size = sizes.get(inode);
    if (size !== undefined && size >= before) continue;
    const how = size === undefined ? 'gone' : 'cut short';
    const key = `${how} ${inode}`;
    now.set(key, { path, inode, bytes: before + (now.get(key)?.bytes ?? 0), how, since });
  }
  // By inode: another file may have the entry of its path.
  const entered = new Set(files.map(({ inode }) => inode));
  const waiting = listed.filter(({ inode, size }) => size > 0 && !entered.has(inode));
  return {
    awaited: new Map(waiting.map((file) => [file.inode, file])),
    missed: new Map([...now].slice(-MOST_MISSED)),
  };
}

/** A pos file that is half written shows fewer entries than there are. Before Fluentd writes it there are none. */
function isBelieved({ unknown, unlisted }: Found, { posFiles }: Memory): boolean {
  return (
    unlisted.length === 0 &&
    unknown.every(
      ({ path, why, empty }) => (empty || why === NOT_THERE) && posFiles.get(path)?.wasFilled !== true,
    )
  );
}
