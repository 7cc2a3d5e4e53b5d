import type { Millis } from '../text/units.ts';
import type { Departed, KnownEntry, Memory, ObservedFile } from './observation.ts';

/** So many are remembered, the newest: a hostile main may rename without end. */
const MOST_DEPARTED = 1_000;

/** The files that have left their paths; one that is back is none. Only what was seen leaving counts, and at the first look all that is away. */
export function departedIn(
  { entries, departed, began }: Memory,
  now: ReadonlyMap<string, KnownEntry>,
  files: readonly ObservedFile[],
  at: Millis,
): Memory['departed'] {
  const isFirst = at === began;
  const left = new Map<string, Departed>(departed);
  for (const { key, path, size, position } of files) {
    const known = now.get(key);
    if (known?.isHere === true) left.delete(key);
    else if (isFirst && position !== null)
      left.set(key, { path, since: at, rest: Math.max(0, (size ?? 0) - position) });
  }
  // An entry that has vanished stays remembered as it was.
  const seen = new Set(files.map(({ key }) => key));
  for (const [key, known] of entries)
    if (known.isHere && !(seen.has(key) && now.get(key)?.isHere === true) && !left.has(key))
      left.set(key, {
        path: known.path,
        since: at,
        rest: restOf(known, seen.has(key) ? now.get(key) : undefined),
      });
  if (left.size <= MOST_DEPARTED) return left;
  return new Map([...left].slice(-MOST_DEPARTED));
}

/** Its last size held against the last position that was one. */
function restOf(before: KnownEntry, now: KnownEntry | undefined): number {
  const size = now?.size ?? before.size ?? 0;
  return Math.max(0, size - (now?.position ?? before.position ?? 0));
}
