import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import { type PlaceOf, toBytes } from './files.ts';

/** Linux follows as many (path_resolution(7)). */
const MOST_LINKS = 40;

/**
 * Finds the files of a process with another root directory: a node's mount, or /proc/PID/root. An absolute symlink stays below that root
 * (/var/log/containers is full of them); the kernel would follow it from our own root. `elsewhere` gets the path of a link to a part of the
 * node that is not mounted below the root.
 */
export function placesBelow(root: string | undefined, elsewhere?: (path: string) => void): PlaceOf {
  if (root === undefined) return (path) => path;
  const top = root.replace(/\/+$/, '');
  return (path) => {
    const place = resolveBelow(top, path);
    // A Pod's removal also removes two directories above its log: pods/UID/container/0.log.
    if (place !== top + path && !existsSync(toBytes(dirname(dirname(dirname(place)))))) elsewhere?.(path);
    return place;
  };
}

/** Resolves all links itself. Missing parts stay as they are. */
function resolveBelow(root: string, path: string): string {
  let place = '';
  let links = 0;
  /** How many names at the end of `place` are missing: posidle looks up nothing below them. */
  let missing = 0;
  const names = path.split('/').toReversed();
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      place = place.slice(0, Math.max(0, place.lastIndexOf('/')));
      missing = Math.max(0, missing - 1);
      continue;
    }
    const next = `${place}/${name}`;
    const found = missing > 0 ? undefined : lookAt(root + next);
    if (found?.target === undefined) {
      place = next;
      if (found === undefined) missing += 1;
      continue;
    }
    const { target } = found;
    links += 1;
    if (links > MOST_LINKS) throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
    if (target.startsWith('/')) place = '';
    names.push(...target.split('/').toReversed());
  }
  return root + place || '/';
}

/** undefined if nothing can be seen there. */
function lookAt(path: string): { readonly target: string | undefined } | undefined {
  try {
    const stat = lstatSync(toBytes(path), { throwIfNoEntry: false });
    // readlink throws for other files, which takes ten times as long.
    if (!stat?.isSymbolicLink()) return stat && { target: undefined };
    return { target: decodePath(readlinkSync(toBytes(path), { encoding: 'buffer' })) };
  } catch {
    return undefined;
  }
}
