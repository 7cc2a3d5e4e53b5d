import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import { type PlaceOf, toBytes, unlessItFails } from './files.ts';

/** Linux follows as many (path_resolution(7)). */
const MOST_LINKS = 40;

/** The most names that one look remembers: main may make directories without end. */
const MOST_REMEMBERED = 10_000;

interface Place {
  readonly path: string;
  readonly parent?: Place;
  /** Nothing can be seen there, and posidle looks up nothing below it. */
  readonly isMissing?: boolean;
  /** Of a link. */
  readonly target?: string;
  /** The names in this directory that were looked up. */
  names?: Map<string, Place>;
}

/**
 * Finds the files of a process with another root directory: a node's mount, or /proc/PID/root. An absolute symlink stays below that root
 * (/var/log/containers is full of them); the kernel would follow it from our own root. The answers are those of one look, which looks up a
 * directory once for all files there.
 */
export function placesBelow(root: string | undefined): PlaceOf {
  if (root === undefined) return (path) => path;
  const follow = followerBelow(root);
  return (path) => follow(path).place.path || '/';
}

/** Whether nothing is at the path because a link there leads to a part of the node that is not mounted here, or not below the root. */
export function leadsAway(root: string | undefined): (path: string) => boolean {
  const follow = followerBelow(root ?? '');
  return (path) => {
    const found = unlessItFails(() => follow(root === undefined ? resolve(path) : path));
    if (found === undefined || found.links === 0) return false;
    // A Pod's removal also removes two directories above its log: pods/UID/container/0.log.
    return !existsSync(toBytes(dirname(dirname(dirname(found.place.path)))));
  };
}

function followerBelow(root: string) {
  const top: Place = { path: root.replace(/\/+$/, '') };
  const memory = { left: MOST_REMEMBERED };
  return (path: string) => resolveBelow(top, path, memory);
}

/** Resolves all links itself. Missing parts stay as they are. */
function resolveBelow(top: Place, path: string, memory: { left: number }) {
  let place = top;
  let links = 0;
  const names = path.split('/').toReversed();
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      place = place.parent ?? top;
      continue;
    }
    const known = place.names?.get(name);
    const found = known ?? lookUp(place, name);
    if (known === undefined && !found.isMissing && names.length > 0 && memory.left > 0) {
      place.names ??= new Map();
      place.names.set(name, found);
      memory.left -= 1;
    }
    const { target } = found;
    if (target === undefined) {
      place = found;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
    if (target.startsWith('/')) place = top;
    names.push(...target.split('/').toReversed());
  }
  return { place, links };
}

function lookUp(parent: Place, name: string): Place {
  const path = `${parent.path}/${name}`;
  if (parent.isMissing) return { path, parent, isMissing: true };
  try {
    const stat = lstatSync(toBytes(path), { throwIfNoEntry: false });
    // readlink throws for other files, which takes ten times as long.
    if (!stat?.isSymbolicLink()) return { path, parent, isMissing: stat === undefined };
    return { path, parent, target: decodePath(readlinkSync(toBytes(path), { encoding: 'buffer' })) };
  } catch {
    return { path, parent, isMissing: true };
  }
}
