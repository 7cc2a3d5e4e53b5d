import { closeSync, constants, openSync, readSync, type Stats, statSync } from 'node:fs';
import { isFileOf } from '../../core/look/file-state.ts';
import type { FileLook, FileStat } from '../../core/look/snapshot.ts';
import { type KeyedEntry, NEWLINE, type PositionEntry } from '../../core/pos-file/pos-file.ts';
import { leadsAway, placesBelow } from './below-root.ts';
import { inPortions, type PlaceOf, toBytes, unlessItFails } from './files.ts';
import { inWords } from './in-words.ts';

/** Why Fluentd may see what posidle does not. */
export const LED_AWAY = 'a link to a place that posidle does not see: mount it here, too';

const BUFFER = Buffer.allocUnsafe(64 * 1024);
/** The most bytes to search: main may write a line without end. */
const SEARCHED = 1024 ** 2;

/** Calls `found` with the log file of each entry. */
export async function lookAt(
  entries: Iterable<KeyedEntry>,
  found: (entry: KeyedEntry, look: FileLook) => void,
  root?: string,
): Promise<void> {
  const [placeOf, isAway] = [placesBelow(root), leadsAway(root)];
  await inPortions(entries, (entry) => found(entry, lookOf(entry, placeOf, isAway)));
}

function lookOf(entry: PositionEntry, placeOf: PlaceOf, isAway: (path: string) => boolean): FileLook {
  const { path, position, inode } = entry;
  let place = path;
  let atPath: FileStat | undefined;
  try {
    place = placeOf(path);
    const stat = statSync(toBytes(place), { throwIfNoEntry: false });
    atPath = stat && fileStatOf(place, stat, inode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_INVALID_ARG_VALUE') return { error: 'its path holds a NUL byte' };
    if (code !== 'ENOENT' && code !== 'ENOTDIR') return { error: inWords(error as Error) };
  }
  if (atPath === undefined) return isAway(path) ? { error: `it is ${LED_AWAY}` } : {};
  const isLeft = position !== null && isFileOf(entry, atPath) && atPath.size > position;
  const newlineLeft = isLeft ? hasNewline(place, position) : undefined;
  return newlineLeft === undefined ? { atPath } : { atPath, newlineLeft };
}

/** Whether there is a newline at or after the position; undefined if the file goes on without one, or is unreadable. */
function hasNewline(place: string, position: number): boolean | undefined {
  return unlessItFails(() => {
    const file = openSync(toBytes(place), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      for (let at = position; at < position + SEARCHED; at += BUFFER.length) {
        const part = BUFFER.subarray(0, readSync(file, BUFFER, 0, BUFFER.length, at));
        if (part.includes(NEWLINE)) return true;
        if (part.length < BUFFER.length) return false;
      }
      return undefined;
    } finally {
      closeSync(file);
    }
  });
}

/** `known`: the inode that an entry names, which nearly always is the same. One text for both saves memory. */
export function fileStatOf(place: string, stat: Stats, known?: string): FileStat {
  const { ino, size, mtimeMs } = stat;
  // A number above 2^53 is not exact.
  const isExact = ino <= Number.MAX_SAFE_INTEGER;
  const inode = String(isExact ? ino : statSync(toBytes(place), { bigint: true }).ino);
  const writtenAgo = Math.max(0, Math.round(Date.now() - mtimeMs));
  return { inode: inode === known ? known : inode, size, writtenAgo };
}
