import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { isFileOf } from '../../core/look/file-state.ts';
import type { FileLook, FileStat } from '../../core/look/snapshot.ts';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import type { PositionEntry } from '../../core/pos-file/pos-file.ts';
import type { LookOptions } from '../../host.ts';
import type { PlaceOf } from './files.ts';
import { inPortions, toBytes } from './files.ts';
import { inWords } from './in-words.ts';
import { NewlineSearch, type SearchTask, searchTask } from './newline-search.ts';
import { factsOf, RenamedFiles } from './renamed-files.ts';

/** As many as Linux follows (path_resolution(7)). */
const MOST_LINKS = 40;

/** Looks at the log files of position entries. */
export class LogFiles {
  readonly #search = new NewlineSearch();
  readonly #renamed = new RenamedFiles();

  async lookAt<Entry extends PositionEntry>(
    entries: Iterable<Entry>,
    found: (entry: Entry, look: FileLook) => void,
    options: LookOptions = {},
    placeOf: PlaceOf = (path) => path,
  ): Promise<void> {
    this.#renamed.begin();
    const task = searchTask(options);
    await inPortions(entries, (entry) => {
      const place = placeOrError(entry.path, placeOf);
      if (place instanceof Error) return found(entry, { error: inWords(place) });
      const look = this.#look(entry, place, task);
      return look instanceof Promise ? look.then((later) => found(entry, later)) : found(entry, look);
    });
  }

  #look(entry: PositionEntry, place: string, task: SearchTask): FileLook | Promise<FileLook> {
    const stat = statAt(place);
    if (stat instanceof Error) return { error: inWords(stat) };
    const { inode, position } = entry;
    const look: NewLook = stat === undefined ? {} : { atPath: stat };
    if (position === null) return look;
    if (stat === undefined || !isFileOf(entry, stat))
      return this.#lookBeside(look, place, inode, position, task);
    return this.#lookInside(look, place, stat, position, task);
  }

  /** A renamed file, by its inode. */
  #lookBeside(
    look: NewLook,
    place: string,
    inode: string,
    position: number,
    task: SearchTask,
  ): FileLook | Promise<FileLook> {
    for (const directory of directoriesBeside(place)) {
      const found = this.#renamed.find(inode, directory);
      if (found instanceof Promise)
        return found.then(() => this.#lookBeside(look, place, inode, position, task));
      if (found === undefined) continue;
      if (found instanceof Error) return { ...look, error: inWords(found) };
      look.renamed = found;
      return this.#lookInside(look, found.path, found.stat, position, task);
    }
    return look;
  }

  #lookInside(
    look: NewLook,
    place: string,
    stat: FileStat,
    position: number,
    task: SearchTask,
  ): FileLook | Promise<FileLook> {
    if (stat.size <= position) return look;
    const found = this.#search.find(place, stat, position, task);
    return found instanceof Promise
      ? found.then((later) => withNewline(look, later))
      : withNewline(look, found);
  }
}

type NewLook = { -readonly [Key in keyof FileLook]: FileLook[Key] };

function withNewline(look: NewLook, newlineLeft: boolean | undefined): FileLook {
  if (newlineLeft !== undefined) look.newlineLeft = newlineLeft;
  return look;
}

/**
 * The directories where a log may lie that was renamed: the path's own, then where the symlink at the path leads, link by link.
 * Behind /var/log/containers/x.log -> ../pods/…/0.log the kubelet renames the target. Each is empty, or ends with its slash.
 */
function* directoriesBeside(path: string): Generator<string> {
  let place: string | undefined = path;
  for (let links = 0; place !== undefined && links <= MOST_LINKS; links += 1) {
    const directory = directoryOf(place);
    yield directory;
    const target = targetOf(place);
    place = target?.startsWith('/') ? target : target && directory + target;
  }
}

function placeOrError(path: string, placeOf: PlaceOf): string | Error {
  try {
    return placeOf(path);
  } catch (error) {
    return error as Error;
  }
}

/** Empty, or with its slash. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function targetOf(path: string): string | undefined {
  try {
    // Without a link readlink throws, which takes ten times as long.
    const isLink = lstatSync(toBytes(path), { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? decodePath(readlinkSync(toBytes(path), { encoding: 'buffer' })) : undefined;
  } catch {
    return undefined;
  }
}

function statAt(place: string): FileStat | Error | undefined {
  try {
    const stat = statSync(toBytes(place), { throwIfNoEntry: false });
    return stat && factsOf(place, stat);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_INVALID_ARG_VALUE') return new Error('its path holds a NUL byte');
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : (error as Error);
  }
}
