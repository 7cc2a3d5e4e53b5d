import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import { type PlaceOf, toBytes } from './files.ts';

/** As many as Linux follows (path_resolution(7)). */
const MOST_LINKS = 40;

/** What is remembered of directories and links. */
const MOST_BYTES = 8 * 1024 ** 2;

/** A name below the root, as it was found. */
interface Place {
  readonly path: string;
  readonly parent: Place | undefined;
  readonly isThere: boolean;
  /** Where it leads, if it is a link. */
  readonly target: string | undefined;
  /** What is known below it. */
  readonly names: Map<string, Place>;
}

/**
 * Paths as a process sees them whose root directory is elsewhere: a node's mount, or /proc/PID/root. An absolute symlink
 * leads on below that root (/var/log/containers is full of them), where the kernel would look below our own.
 */
export class BelowRoot {
  readonly #root: string;
  readonly #top: Place = { path: '', parent: undefined, isThere: true, target: undefined, names: new Map() };
  #bytesLeft = MOST_BYTES;

  constructor(root: string) {
    this.#root = root.replace(/\/+$/, '');
  }

  /** Where the path is for us: no link in it is left to the kernel. What is not there stays as it is. */
  resolve(path: string): string {
    let place = this.#top;
    let links = 0;
    const names = path.split('/').toReversed();
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (name === '' || name === '.') continue;
      const next: Place = name === '..' ? (place.parent ?? place) : this.#below(place, name);
      if (next.target === undefined) {
        place = next;
        continue;
      }
      links += 1;
      if (links > MOST_LINKS) throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
      if (next.target.startsWith('/')) place = this.#top;
      names.push(...next.target.split('/').toReversed());
    }
    return this.#root + place.path || '/';
  }

  /** Whether a link leads to a part of the node that is not below the root: what is there is not known. */
  isElsewhere(path: string, place: string): boolean {
    // A Pod takes two directories with its log: pods/UID/container/0.log.
    return place !== this.#root + path && !existsSync(toBytes(dirname(dirname(dirname(place)))));
  }

  /** Of what is not there nothing is asked, and a file is not remembered: there may be very many of both. */
  #below(parent: Place, name: string): Place {
    const known = parent.names.get(name);
    if (known !== undefined) return known;
    const path = `${parent.path}/${name}`;
    const found = parent.isThere ? lookAt(this.#root + path) : undefined;
    const place = { path, parent, isThere: found !== undefined, target: found?.target, names: new Map() };
    if (found?.isFile === false && this.#bytesLeft > path.length) {
      this.#bytesLeft -= path.length;
      parent.names.set(name, place);
    }
    return place;
  }
}

/** Below another root, or our own. Made for one look: what was a directory may be a link at the next. */
export function placesBelow(root: string | undefined, elsewhere?: (path: string) => void): PlaceOf {
  if (root === undefined) return (path) => path;
  const below = new BelowRoot(root);
  return (path) => {
    const place = below.resolve(path);
    if (elsewhere !== undefined && below.isElsewhere(path, place)) elsewhere(path);
    return place;
  };
}

function lookAt(path: string): { readonly isFile: boolean; readonly target: string | undefined } | undefined {
  try {
    const stat = lstatSync(toBytes(path), { throwIfNoEntry: false });
    const target = stat?.isSymbolicLink()
      ? decodePath(readlinkSync(toBytes(path), { encoding: 'buffer' }))
      : undefined;
    return stat && { isFile: stat.isFile(), target };
  } catch {
    return undefined;
  }
}
