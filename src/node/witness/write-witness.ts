import { rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { rubyOption } from '../../core/witness/load.ts';
import { exists } from '../files/files.ts';

/** A Unix socket's path takes 107 bytes (unix(7)); the witness adds up to 30. */
const LONGEST_DIR = 77;

/** Writes the witness to a directory, each file at once by rename: Ruby never sees half of one. Fluentd may be another user, and makes its socket there. */
export async function writeWitness(dir: string): Promise<void> {
  const refused = refusalOf(dir);
  if (refused !== undefined) throw new Error(refused);
  // Not those above it: it is a volume. Node's own way never returns below /proc.
  for (const made of [dir, join(dir, 'ruby')]) if (!(await exists(made))) await mkdir(made);
  // An emptyDir belongs to root: whoever may write there has no need to.
  await chmod(dir, 0o1777).catch(() => undefined);
  const { PROGRAM } = await import('./program.ts');
  for (const [name, text] of PROGRAM) {
    const path = join(dir, name);
    const unfinished = join(dirname(path), `.${process.pid}.tmp`);
    await writeFile(unfinished, text, { mode: 0o644 });
    await rename(unfinished, path);
  }
}

function refusalOf(dir: string): string | undefined {
  if (!isAbsolute(dir)) return "the path isn't absolute. Write that of the volume, such as /posidle";
  if (Buffer.byteLength(dir) > LONGEST_DIR)
    return `the path may have ${LONGEST_DIR} bytes, because that of a socket may have 107`;
  return /\s/.test(dir) ? 'RUBYOPT takes no path with white space' : undefined;
}

/** The same in a new directory that only this user may enter; it is removed when this process ends. */
export async function writeOwnWitness(): Promise<string> {
  const own = join(tmpdir(), 'posidle-');
  const dir = await mkdtemp(refusalOf(`${own}123456`) === undefined ? own : '/tmp/posidle-');
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  await writeWitness(dir);
  await chmod(dir, 0o700);
  return dir;
}

/** Writes the witness for a Fluentd that is about to start, to a directory of its own where none is given; gives the environment for it. A RUBYOPT that is there is kept. */
export async function loadedWitness(given: string | undefined, env: NodeJS.ProcessEnv) {
  const dir = given ?? (await writeOwnWitness());
  if (given !== undefined) await writeWitness(given);
  const { RUBYOPT: before } = env;
  const rubyopt = before === undefined ? rubyOption(dir) : `${rubyOption(dir)} ${before}`;
  return { dir, env: { ...env, RUBYOPT: rubyopt, POSIDLE_DIR: dir } };
}
