import { type Stats, statSync } from 'node:fs';
import { isFileOf } from '../../core/look/file-state.ts';
import type { FileLook, FileStat } from '../../core/look/snapshot.ts';
import type { PositionEntry } from '../../core/pos-file/pos-file.ts';
import { leadsAway, placesBelow } from './below-root.ts';
import { inPortions, toBytes } from './files.ts';
import { inWords } from './in-words.ts';
import { NewlineSearch } from './newline-search.ts';

/** Why Fluentd may see what posidle does not. */
export const LED_AWAY = 'a link to a place that posidle does not see: mount it here, too';

export class LogFiles {
  readonly #search = new NewlineSearch();

  async lookAt<Entry extends PositionEntry>(
    entries: Iterable<Entry>,
    found: (entry: Entry, look: FileLook) => void,
    root?: string,
  ): Promise<void> {
    const [placeOf, isAway] = [placesBelow(root), leadsAway(root)];
    this.#search.begin();
    await inPortions(entries, (entry) => {
      const seen = lookAtPath(entry.path, placeOf);
      if ('error' in seen) return found(entry, seen);
      const { place, stat } = seen;
      if (stat === undefined) return found(entry, isAway(entry.path) ? { error: `it is ${LED_AWAY}` } : {});
      const { position } = entry;
      // The usual case, a fully read file, needs no promise.
      if (position === null || !isFileOf(entry, stat) || stat.size <= position)
        return found(entry, { atPath: stat });
      return this.#search
        .find(place, stat, position)
        .then((newlineLeft) =>
          found(entry, newlineLeft === undefined ? { atPath: stat } : { atPath: stat, newlineLeft }),
        );
    });
  }
}

type Seen = { readonly place: string; readonly stat: FileStat | undefined } | { readonly error: string };

function lookAtPath(path: string, placeOf: (path: string) => string): Seen {
  try {
    const place = placeOf(path);
    const stat = statSync(toBytes(place), { throwIfNoEntry: false });
    return { place, stat: stat && fileStatOf(place, stat) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_INVALID_ARG_VALUE') return { error: 'its path holds a NUL byte' };
    if (code !== 'ENOENT' && code !== 'ENOTDIR') return { error: inWords(error as Error) };
    return { place: path, stat: undefined };
  }
}

function fileStatOf(place: string, stat: Stats): FileStat {
  const { ino, size, mtimeMs } = stat;
  // A number above 2^53 is not exact.
  const isExact = ino <= Number.MAX_SAFE_INTEGER;
  const inode = isExact ? ino : statSync(toBytes(place), { bigint: true }).ino;
  return { inode: String(inode), size, writtenAgo: Math.max(0, Math.round(Date.now() - mtimeMs)) };
}
