import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, createReadStream, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ownRuntime, type Runtime } from './runtime.ts';

const FOLDER = '.posidle';
const UNFINISHED = 'unfinished-';
const RUN_LIMIT = 10_000;
const MODE = 0o755;

/** What stands in DIR now. */
export interface Installed {
  readonly command: string;
  readonly version: string;
  readonly bytes: number;
  /** It was there already. */
  readonly wasThere: boolean;
}

/** DIR cannot take it; the message says why. */
export class InstallError extends Error {
  override readonly name = 'InstallError';
}

/**
 * Copies `bundle`, this Node and its libraries to `dir`, so that they run in any image of this architecture: with another
 * libc, or with none. The command appears last and at once, by rename: who sees it can run it. What is there already is kept
 * only where it is the same, and where nobody else can have put it there.
 */
export async function install(bundle: string, dir: string, own?: Runtime): Promise<Installed> {
  // The one who runs it is another user.
  process.umask(0o022);
  const runtime = own ?? (await ownRuntime());
  const files = filesOf(bundle, runtime);
  const bytes = await sizeOf(files);
  const digest = await digestOf(files);
  const name = digest.slice(0, 16);
  await makeDirectory(dir);
  const folder = await ownFolder(join(dir, FOLDER));
  const there = await filesBelow(join(folder, name), '');
  const wasThere =
    there !== undefined && (await sizeOf(there)) === bytes && (await digestOf(there)) === digest;
  if (!wasThere) {
    await checkSpace(dir, bytes);
    await copyAll(files, folder, name);
  }
  const command = join(dir, 'posidle');
  await writeCommand(command, launcher(name, runtime), folder);
  return { command, version: await versionBy(command), bytes, wasThere };
}

/** A recursive mkdir of Node never ends where nothing can be made (/proc/x), and says ENOENT on a read-only volume. */
async function makeDirectory(path: string): Promise<void> {
  const made = await mkdir(path).catch((error: NodeJS.ErrnoException) => error);
  if (made === undefined || made.code === 'EEXIST') return;
  if (made.code !== 'ENOENT' || dirname(path) === path) throw made;
  await makeDirectory(dirname(path));
  await mkdir(path);
}

/** The folder in DIR, where nobody but this user can change anything. */
async function ownFolder(path: string): Promise<string> {
  await makeDirectory(path);
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    () => undefined,
  );
  try {
    const found = await folder?.stat();
    if (found === undefined || !isTrusted(found))
      throw new InstallError(`${path} is not a directory of this user: remove it`);
    if (!isForAll(found)) await folder?.chmod(MODE);
    return path;
  } finally {
    await folder?.close();
  }
}

function isTrusted({ uid }: Stats): boolean {
  return uid === 0 || uid === process.getuid?.();
}

/** Everybody may run it, and only its owner may change it. */
function isForAll({ mode }: Stats): boolean {
  return (mode & 0o777) === MODE;
}

/** Name below the installed folder → the file to copy. */
function filesOf(bundle: string, { program, loader, libraries }: Runtime): ReadonlyMap<string, string> {
  const files = new Map([
    ['posidle.cjs', bundle],
    ['node', program],
  ]);
  if (loader !== undefined) files.set(`lib/${basename(loader)}`, loader);
  for (const [name, file] of libraries) files.set(`lib/${name}`, file);
  return files;
}

async function sizeOf(files: ReadonlyMap<string, string>): Promise<number> {
  const stats = await Promise.all([...files.values()].map((file) => stat(file)));
  return stats.reduce((sum, { size }) => sum + size, 0);
}

async function digestOf(files: ReadonlyMap<string, string>): Promise<string> {
  const hash = createHash('sha256');
  for (const [name, file] of [...files].sort()) {
    hash.update(`${name}\0${(await stat(file)).size}\0`);
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}

/** Name below the folder → the file; undefined: there is none, a link, or what somebody else can have put there. */
async function filesBelow(home: string, name: string): Promise<ReadonlyMap<string, string> | undefined> {
  const path = join(home, name);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || !isTrusted(found) || !isForAll(found)) return undefined;
  if (found.isFile()) return new Map([[name, path]]);
  if (!found.isDirectory()) return undefined;
  const inner = await Promise.all((await readdir(path)).map((entry) => filesBelow(home, join(name, entry))));
  return inner.includes(undefined) ? undefined : new Map(inner.flatMap((files) => [...(files ?? [])]));
}

async function checkSpace(dir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new InstallError(`${dir} has ${mebibytes(free)} free, and ${mebibytes(bytes)} are needed`);
}

async function copyAll(files: ReadonlyMap<string, string>, folder: string, name: string): Promise<void> {
  for (const old of await readdir(folder)) {
    if (old.startsWith(UNFINISHED)) await rm(join(folder, old), { recursive: true, force: true });
  }
  const unfinished = await mkdtemp(join(folder, UNFINISHED));
  try {
    // mkdtemp makes it for its owner only.
    await chmod(unfinished, MODE);
    await mkdir(join(unfinished, 'lib'));
    for (const [target, file] of files) {
      await copyFile(file, join(unfinished, target), constants.COPYFILE_EXCL);
      await chmod(join(unfinished, target), MODE);
    }
    await rm(join(folder, name), { recursive: true, force: true });
    await rename(unfinished, join(folder, name));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** No LD_LIBRARY_PATH: fluentd, posidle's child, would inherit it. */
function launcher(name: string, { loader }: Runtime): string {
  const byLoader = loader === undefined ? '' : `"$home/lib/${basename(loader)}" --library-path "$home/lib" `;
  return [
    '#!/bin/sh',
    `home=$(dirname "$(readlink -f "$0")")/${FOLDER}/${name}`,
    `exec ${byLoader}"$home/node" "$home/posidle.cjs" "$@"`,
    '',
  ].join('\n');
}

/** By way of the folder, where nobody can have put a link in its place. */
async function writeCommand(command: string, text: string, folder: string): Promise<void> {
  const found = await lstat(command).catch(() => undefined);
  const isOurs = found?.isFile() && isTrusted(found) && isForAll(found);
  if (isOurs && (await readFile(command, 'utf8')) === text) return;
  const inner = await mkdtemp(join(folder, UNFINISHED));
  try {
    await writeFile(join(inner, 'posidle'), text, { mode: MODE, flag: 'wx' });
    await rename(join(inner, 'posidle'), command);
  } finally {
    await rm(inner, { recursive: true });
  }
}

/** It runs from where it was put: a volume may be mounted noexec. */
async function versionBy(command: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, ['--version'], { timeout: RUN_LIMIT });
    return stdout.trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EACCES' ? 'its volume is mounted noexec' : message.trim();
    throw new InstallError(`${command} does not run: ${why}`);
  }
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
