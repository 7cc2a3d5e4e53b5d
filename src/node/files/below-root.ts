import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import { type PlaceOf, toBytes } from './files.ts';

/** As many as Linux follows (path_resolution(7)). */
export const MOST_LINKS = 40;

/**
 * Where paths lie for us, as a process names them whose root directory is elsewhere: a node's mount, or /proc/PID/root. An absolute
 * symlink leads on below that root (/var/log/containers is full of them), where the kernel would look below our own. `elsewhere` is told
 * of a link that leads to a part of the node that is not below the root: what is there is not known.
 */
export function placesBelow(root: string | undefined, elsewhere?: (path: string) => void): PlaceOf {
  if (root === undefined) return (path) => path;
  const top = root.replace(/\/+$/, '');
  return (path) => {
    const place = resolveBelow(top, path);
    // A Pod takes two directories with its log: pods/UID/container/0.log.
    if (place !== top + path && !existsSync(toBytes(dirname(dirname(dirname(place)))))) elsewhere?.(path);
    return place;
  };
}

/** No link in it is left to the kernel. What is not there stays as it is. */
function resolveBelow(root: string, path: string): string {
  let place = '';
  let links = 0;
  const names = path.split('/').toReversed();
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === '' || name === '.') continue;
    const next = name === '..' ? place.replace(/\/[^/]*$/, '') : `${place}/${name}`;
    const target = name === '..' ? undefined : linkAt(root + next);
    if (target === undefined) {
      place = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
    if (target.startsWith('/')) place = '';
    names.push(...target.split('/').toReversed());
  }
  return root + place || '/';
}

/** Where a link leads; undefined: it is none. */
export function linkAt(path: string): string | undefined {
  try {
    // Without a link readlink throws, which takes ten times as long.
    const isLink = lstatSync(toBytes(path), { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? decodePath(readlinkSync(toBytes(path), { encoding: 'buffer' })) : undefined;
  } catch {
    return undefined;
  }
}
