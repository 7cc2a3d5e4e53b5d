import { constants, rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { rubyOption } from '../../core/witness/load.ts';
import { exists, unlessItFails } from '../files/files.ts';
import { openWithoutLinks } from '../files/safe-write.ts';

/** The path of a Unix socket has at most 107 bytes (unix(7)), and the witness adds up to 30. */
const LONGEST_DIR = 77;
const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/**
 * Writes the witness to a directory. Each file appears by rename, complete. Fluentd may be another user and makes sockets there, so it may
 * have made links, too.
 */
export async function writeWitness(dir: string): Promise<void> {
  const refused = refusalOf(dir);
  if (refused !== undefined) throw new Error(refused);
  // Not recursive: the parent exists, because DIR is a volume, and Node's recursive mkdir hangs below /proc.
  for (const made of [dir, join(dir, 'ruby')]) if (!(await exists(made))) await mkdir(made);
  // It fails on an emptyDir, which belongs to root and is already writable.
  await chmod(dir, 0o1777).catch(() => undefined);
  const { PROGRAM } = await import('./program.ts');
  const place = await realpath(dir);
  for (const [name, text] of PROGRAM) {
    const path = join(place, name);
    const unfinished = join(dirname(path), `.${crypto.randomUUID()}.tmp`);
    const file = await openWithoutLinks(unfinished, NEW);
    try {
      await file.writeFile(text).finally(() => file.close());
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }
}

function refusalOf(dir: string): string | undefined {
  if (!isAbsolute(dir)) return "the path isn't absolute. Write that of the volume, such as /posidle";
  if (Buffer.byteLength(dir) > LONGEST_DIR)
    return `the path may have ${LONGEST_DIR} bytes, because that of a socket may have 107`;
  return /\s/.test(dir) ? 'RUBYOPT takes no path with white space' : undefined;
}

/** The same in a new directory that only this user may enter. The exit of this process removes it. */
export async function writeOwnWitness(): Promise<string> {
  const own = join(tmpdir(), 'posidle-');
  const dir = await mkdtemp(refusalOf(`${own}123456`) === undefined ? own : '/tmp/posidle-');
  // An error there would keep the child of `run` from being killed.
  process.once('exit', () => unlessItFails(() => rmSync(dir, { recursive: true, force: true })));
  await writeWitness(dir);
  await chmod(dir, 0o700);
  return dir;
}

/** Writes the witness before Fluentd starts, to `given` or to a new directory. Gives Fluentd's environment. Keeps an existing RUBYOPT. */
export async function loadedWitness(given: string | undefined, env: NodeJS.ProcessEnv) {
  const dir = given ?? (await writeOwnWitness());
  if (given !== undefined) await writeWitness(given);
  const { RUBYOPT: before } = env;
  const rubyopt = before === undefined ? rubyOption(dir) : `${rubyOption(dir)} ${before}`;
  return { dir, env: { ...env, RUBYOPT: rubyopt, POSIDLE_DIR: dir } };
}
