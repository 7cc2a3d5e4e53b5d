import type { Snapshot } from '../look/snapshot.ts';
import { AT_ITS_PATH } from './judge-entry.ts';
import type { Departed, KnownEntry, Memory, Observation } from './observation.ts';
import { NOT_THERE } from './unknown-pos-file.ts';

/** posidle remembers only the newest: a hostile main may rename or remove files without end. */
const MOST_DEPARTED = 1_000;

type LookFacts = Pick<Observation, 'files' | 'unlisted' | 'unknown'> & Pick<Snapshot, 'followed' | 'at'>;

/** The files that went away and are not back. `entries`: the memory after this look. */
export function departedIn(
  memory: Memory,
  entries: Memory['entries'],
  found: LookFacts,
): Pick<Memory, 'departed' | 'awaited'> {
  const departed = new Map(memory.departed);
  addLeft(departed, memory, entries, found);
  const awaited = isBelieved(found, memory) ? addMissed(departed, memory, found) : memory.awaited;
  return { departed: new Map([...departed].slice(-MOST_DEPARTED)), awaited };
}

/** Files that left the path of their entry. If the entry vanished too, their unread bytes stay as they were. */
function addLeft(
  departed: Map<string, Departed>,
  { entries: before }: Memory,
  entries: Memory['entries'],
  { files, at }: LookFacts,
): void {
  const leave = (key: string, { path, inode, position }: KnownEntry, known: number | null) => {
    const size = known ?? 0;
    const since = departed.get(key)?.since ?? at;
    departed.set(key, {
      path,
      inode,
      how: 'left',
      size,
      since,
      unreadBytes: Math.max(0, size - (position ?? 0)),
    });
  };
  // A new entry has inode 0 until in_tail opens the file (position_file.rb:47).
  const hasJustLeft = (key: string, known: KnownEntry | undefined): known is KnownEntry =>
    known?.isAtPath === true && known.inode !== '0' && !departed.has(key);
  for (const { key, position } of files) {
    const [old, now] = [before.get(key), entries.get(key)];
    if (now === undefined) continue;
    if (now.isAtPath) departed.delete(key);
    else if (position === null && hasJustLeft(key, old)) leave(key, old, now.size ?? old.size);
    else if (position !== null && (departed.has(key) || old?.isAtPath !== false)) leave(key, now, now.size);
  }
  for (const [key, old] of before) if (!entries.has(key) && hasJustLeft(key, old)) leave(key, old, old.size);
}

/** Adds files that went away or got shorter before in_tail found them. Gives the files that in_tail must find now. */
function addMissed(
  departed: Map<string, Departed>,
  { awaited }: Memory,
  { files, followed, at: since }: LookFacts,
): Memory['awaited'] {
  const listed = followed.flatMap((source) => source.files);
  if (listed.length + awaited.size === 0) return awaited;
  // The listing may be some seconds old; the size of an entry's file is new.
  const looked = files.filter((file): file is typeof file & { size: number } => AT_ITS_PATH.has(file.state));
  const sizes = new Map([...listed, ...looked].map(({ inode, size }) => [inode, size]));
  for (const { path, inode, size: before } of awaited.values()) {
    const now = sizes.get(inode);
    if (now !== undefined && now >= before) continue;
    const how = now === undefined ? 'gone' : 'cut short';
    const key = `${how} ${inode}`;
    const size = before + (departed.get(key)?.size ?? 0);
    departed.set(key, { path, inode, how, size, since, unreadBytes: size });
  }
  // By inode, because the entry of a path may belong to another file.
  const entered = new Set(files.map(({ inode }) => inode));
  const waiting = listed.filter(({ inode, size }) => size > 0 && !entered.has(inode));
  return new Map(waiting.map((file) => [file.inode, file]));
}

/** Whether the entries are complete. A half-written pos file has too few; a missing or empty one counts if it never had any. */
function isBelieved({ unknown, unlisted }: LookFacts, { posFiles }: Memory): boolean {
  return (
    unlisted.length === 0 &&
    unknown.every(
      ({ path, why, empty }) => (empty || why === NOT_THERE) && (posFiles.get(path)?.count ?? 0) === 0,
    )
  );
}
