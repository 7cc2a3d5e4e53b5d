import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { ownRuntime, type Runtime } from './runtime.ts';

const FOLDER = '.posidle';
const UNFINISHED = 'unfinished-';
const RUN_LIMIT = 10_000;

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
 * libc, or with none. The command appears last and at once, by rename: who sees it can run it.
 */
export async function install(bundle: string, dir: string): Promise<Installed> {
  const runtime = await ownRuntime();
  const files = filesOf(bundle, runtime);
  const { bytes, digest } = await measure(bundle, files);
  await makeFolder(dir);
  const home = join(dir, FOLDER, digest);
  const wasThere = await isThere(home);
  if (!wasThere) {
    await checkSpace(dir, bytes);
    await copyAll(files, home);
  }
  const command = join(dir, 'posidle');
  await writeCommand(command, launcher(digest, runtime));
  return { command, version: await versionBy(command), bytes, wasThere };
}

/** In two steps: on a read-only volume a recursive mkdir says ENOENT. */
async function makeFolder(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  const folder = join(dir, FOLDER);
  if (!(await isThere(folder))) await mkdir(folder);
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

async function measure(bundle: string, files: ReadonlyMap<string, string>) {
  const hash = createHash('sha256')
    .update(await readFile(bundle))
    .update(process.version)
    .update(process.arch);
  let bytes = 0;
  for (const [name, file] of files) {
    const { size } = await stat(file);
    bytes += size;
    hash.update(`${name}\0${size}\0`);
  }
  return { bytes, digest: hash.digest('hex').slice(0, 16) };
}

async function checkSpace(dir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new InstallError(`${dir} has ${mebibytes(free)} free, and ${mebibytes(bytes)} are needed`);
}

async function copyAll(files: ReadonlyMap<string, string>, home: string): Promise<void> {
  const parent = join(home, '..');
  for (const name of await readdir(parent)) {
    if (name.startsWith(UNFINISHED)) await rm(join(parent, name), { recursive: true, force: true });
  }
  const unfinished = await mkdtemp(join(parent, UNFINISHED));
  try {
    // mkdtemp makes it for its owner only, and the one who runs it is another uid.
    await chmod(unfinished, 0o755);
    await mkdir(join(unfinished, 'lib'));
    for (const [name, file] of files) {
      await copyFile(file, join(unfinished, name));
      await chmod(join(unfinished, name), 0o755);
    }
    await rename(unfinished, home);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** No LD_LIBRARY_PATH: fluentd, posidle's child, would inherit it. */
function launcher(digest: string, { loader }: Runtime): string {
  const byLoader = loader === undefined ? '' : `"$home/lib/${basename(loader)}" --library-path "$home/lib" `;
  return [
    '#!/bin/sh',
    `home=$(dirname "$(readlink -f "$0")")/${FOLDER}/${digest}`,
    `exec ${byLoader}"$home/node" "$home/posidle.cjs" "$@"`,
    '',
  ].join('\n');
}

async function writeCommand(command: string, text: string): Promise<void> {
  const unfinished = `${command}.${process.pid}`;
  await writeFile(unfinished, text, { mode: 0o755 });
  await rename(unfinished, command);
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

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
