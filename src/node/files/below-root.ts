import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import { type PlaceOf, toBytes } from './files.ts';

/** As many as Linux follows (path_resolution(7)). */
const MOST_LINKS = 40;

/**
 * Paths as a process sees them whose root directory is elsewhere: a node's mount, or /proc/PID/root. An absolute symlink
 * leads on below that root (/var/log/containers is full of them), where the kernel would look below our own.
 */
export class BelowRoot {
  readonly #root: string;
  /** Directories, resolved. */
  readonly #known = new Map<string, string>();

  constructor(root: string) {
    this.#root = root.replace(/\/+$/, '');
  }

  /** Where the path is for us: no link in it is left to the kernel. What is not there stays as it is. */
  resolve(path: string): string {
    return this.#root + this.#follow(path, { left: MOST_LINKS }) || '/';
  }

  /** Whether a link leads to a part of the node that is not below the root: what is there is not known. */
  isElsewhere(path: string, place: string): boolean {
    // A Pod takes two directories with its log: pods/UID/container/0.log.
    return place !== this.#root + path && !existsSync(toBytes(dirname(dirname(dirname(place)))));
  }

  /** A path of ours as the other process names it; what does not lie below the root keeps its name. */
  nameOf(path: string): string {
    const inside = relative(resolve(`${this.#root}/`), resolve(path));
    return inside === '..' || inside.startsWith('../') ? path : `/${inside}`;
  }

  #follow(path: string, links: { left: number }): string {
    const slash = path.lastIndexOf('/');
    const directory = slash <= 0 ? '' : this.#directory(path.slice(0, slash), links);
    const name = path.slice(slash + 1);
    if (name === '..') return directory.slice(0, Math.max(0, directory.lastIndexOf('/')));
    if (name === '' || name === '.') return directory;
    const target = linkAt(`${this.#root}${directory}/${name}`);
    if (target === undefined) return `${directory}/${name}`;
    links.left -= 1;
    if (links.left < 0) throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
    return this.#follow(target.startsWith('/') ? target : `${directory}/${target}`, links);
  }

  #directory(path: string, links: { left: number }): string {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const found = this.#follow(path, links);
    this.#known.set(path, found);
    return found;
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

function linkAt(path: string): string | undefined {
  try {
    const isLink = lstatSync(toBytes(path), { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? decodePath(readlinkSync(toBytes(path), { encoding: 'buffer' })) : undefined;
  } catch {
    return undefined;
  }
}
