import { statSync } from 'node:fs';
import { isFileOf } from '../../core/look/file-state.ts';
import type { FileLook, FileStat } from '../../core/look/snapshot.ts';
import type { PositionEntry } from '../../core/pos-file/pos-file.ts';
import { linkAt, MOST_LINKS } from './below-root.ts';
import { inPortions, type PlaceOf, toBytes } from './files.ts';
import { inWords } from './in-words.ts';
import { NewlineSearch } from './newline-search.ts';
import { fileStatOf, type RenamedFile, RenamedFiles } from './renamed-files.ts';

export class LogFiles {
  readonly #search = new NewlineSearch();
  readonly #renamed = new RenamedFiles();

  async lookAt<Entry extends PositionEntry>(
    entries: Iterable<Entry>,
    found: (entry: Entry, look: FileLook) => void,
    placeOf: PlaceOf = (path) => path,
  ): Promise<void> {
    this.#renamed.begin();
    this.#search.begin();
    await inPortions(entries, (entry) => {
      const seen = lookAtPath(entry.path, placeOf);
      if ('error' in seen) return found(entry, seen);
      const { place, stat } = seen;
      const look = stat === undefined ? {} : { atPath: stat };
      const { position } = entry;
      const own = stat !== undefined && isFileOf(entry, stat) ? { path: place, stat } : undefined;
      // The usual case, a fully read file, needs no promise.
      if (position === null || (own !== undefined && own.stat.size <= position)) return found(entry, look);
      const further =
        own === undefined ? this.#lookBeside(entry.inode, place, position) : this.#lookInside(own, position);
      return further.then((more) => found(entry, { ...look, ...more }));
    });
  }

  /**
   * Looks for a renamed log in the path's directory, then in that of each symlink's target. The kubelet renames the target of
   * /var/log/containers/x.log -> ../pods/…/0.log.
   */
  async #lookBeside(inode: string, place: string, position: number): Promise<FileLook> {
    try {
      let next: string | undefined = place;
      for (let links = 0; next !== undefined && links <= MOST_LINKS; links += 1) {
        const renamed = await this.#renamed.find(inode, directoryOf(next));
        if (renamed !== undefined) return { renamed, ...(await this.#lookInside(renamed, position)) };
        next = await this.#targetOf(next);
      }
      return {};
    } catch (error) {
      return { error: inWords(error as Error) };
    }
  }

  async #targetOf(path: string): Promise<string | undefined> {
    const directory = directoryOf(path);
    if (!(await this.#renamed.mayBeLink(directory, path.slice(directory.length)))) return undefined;
    const target = linkAt(path);
    return target?.startsWith('/') ? target : target && directory + target;
  }

  async #lookInside({ path, stat }: RenamedFile, position: number): Promise<FileLook> {
    if (stat.size <= position) return {};
    const newlineLeft = await this.#search.find(path, stat, position);
    return newlineLeft === undefined ? {} : { newlineLeft };
  }
}

/** Empty, or ends with a slash. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

type Seen = { readonly place: string; readonly stat: FileStat | undefined } | { readonly error: string };

function lookAtPath(path: string, placeOf: PlaceOf): Seen {
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
