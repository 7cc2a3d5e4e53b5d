import { constants } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import { toBytes } from './files.ts';
import { inWords } from './in-words.ts';

/** Opens a directory without permission to read it (open(2)). Node has no constant for it. */
const O_PATH = 0o10_000_000;
const FLAGS = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a regular file for writing. Others may write to its volume, so it refuses symbolic links, in the name and on the way to it, and hard
 * links. It never waits for the reader of a FIFO. Rejects with the reason in words.
 */
export async function openWithoutLinks(path: string, flags: number): Promise<FileHandle> {
  const file = await openInDirectory(resolve(path), flags | FLAGS).catch((error) => {
    throw new Error(error.code === 'ELOOP' ? 'it is a symbolic link' : inWords(error));
  });
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error('it is not a regular file');
    if (stat.nlink > 1) throw new Error('it has another name too (a hard link)');
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Holds the directory open while it asks for its path, so that nobody can replace it meanwhile. */
async function openInDirectory(path: string, flags: number): Promise<FileHandle> {
  if (process.platform !== 'linux') return await open(toBytes(path), flags, 0o644);
  await using directory = await open(toBytes(dirname(path)), O_PATH | constants.O_DIRECTORY);
  const held = `/proc/self/fd/${directory.fd}`;
  const place = decodePath(await readlink(held, { encoding: 'buffer' }));
  if (place !== dirname(path)) throw new Error(`a symbolic link leads to its directory, which is ${place}`);
  return await open(toBytes(`${held}/${basename(path)}`), flags, 0o644);
}
