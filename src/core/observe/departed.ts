import type { Millis } from '../text/units.ts';
import type { Departed, KnownEntry, Memory, ObservedFile } from './observation.ts';

/** So many are remembered, the newest: a hostile main may rename without end. */
const MOST_DEPARTED = 1_000;

/** The files that have left their paths; one that is back is none. Of an entry that vanishes the rest is what it was. */
export function departedIn(
  { entries, departed }: Pick<Memory, 'entries' | 'departed'>,
  now: ReadonlyMap<string, KnownEntry>,
  files: readonly ObservedFile[],
  at: Millis,
): Memory['departed'] {
  const left = new Map<string, Departed>(departed);
  const leave = (key: string, { path, inode, size: known, position }: KnownEntry) => {
    const size = known ?? 0;
    const rest = Math.max(0, size - (position ?? 0));
    left.set(key, { path, inode, size, since: left.get(key)?.since ?? at, rest });
  };
  const here = new Set<string>();
  for (const { key, position } of files) {
    const before = entries.get(key);
    const known = now.get(key);
    if (known?.isHere) {
      here.add(key);
      left.delete(key);
    } else if (known !== undefined && position !== null && (left.has(key) || before?.isHere !== false))
      leave(key, known);
  }
  // Inode 0 stands in an entry until in_tail has opened its file (position_file.rb:47).
  for (const [key, known] of entries)
    if (known.isHere && known.inode !== '0' && !here.has(key) && !left.has(key))
      leave(key, { ...known, size: now.get(key)?.size ?? known.size });
  return new Map([...left].slice(-MOST_DEPARTED));
}
