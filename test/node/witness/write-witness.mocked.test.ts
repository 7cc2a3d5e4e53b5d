import { spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { loadedWitness, writeOwnWitness, writeWitness } from '../../../src/node/witness/write-witness.ts';
import { tempDir } from '../../support/temp-dir.ts';

vi.mock('node:fs', { spy: true });

const inDir = tempDir();

const source = (name: string) => readFileSync(`src/core/witness/${name}`, 'utf8');

afterEach(() => {
  vi.unstubAllEnvs();
});

test('the witness is written as it stands, also over an older one, for any user to read, and nothing unfinished stays', async () => {
  const target = inDir('new');
  await writeWitness(target);
  writeFileSync(join(target, 'witness.rb'), 'old');
  await writeWitness(target);
  const written = ['files.rb', 'orders.rb', 'receipts.rb', 'ruby/enumerator.rb', 'witness.rb'];
  expect(readdirSync(target, { recursive: true }).sort()).toEqual([...written, 'ruby'].sort());
  for (const name of written) expect(readFileSync(join(target, name), 'utf8')).toBe(source(basename(name)));
  expect(statSync(join(target, 'witness.rb')).mode & 0o777).toBe(0o644);
  expect(statSync(target).mode & 0o1777).toBe(0o1777);
});

test('nothing is written through a link that stands in the directory', async () => {
  const [outside, target] = [inDir('outside'), inDir('dir')];
  for (const made of [outside, target]) mkdirSync(made);
  for (const name of ['victim', 'other']) writeFileSync(join(outside, name), 'mine');
  symlinkSync(join(outside, 'victim'), join(target, `.${process.pid}.tmp`));
  symlinkSync(join(outside, 'other'), join(target, 'files.rb'));
  await writeWitness(target);
  expect(lstatSync(join(target, 'files.rb')).isFile()).toBe(true);
  rmSync(join(target, 'ruby'), { recursive: true });
  symlinkSync(outside, join(target, 'ruby'));
  await expect(writeWitness(target)).rejects.toThrow(/^a symbolic link leads to its directory/);
  expect(readdirSync(outside).sort()).toEqual(['other', 'victim']);
  for (const name of ['victim', 'other']) expect(readFileSync(join(outside, name), 'utf8')).toBe('mine');
});

test('a directory that the user names by a link is written', async () => {
  mkdirSync(inDir('real'));
  symlinkSync('real', inDir('link'));
  await writeWitness(inDir('link'));
  expect(readdirSync(inDir('real/ruby'))).toEqual(['enumerator.rb']);
});

test.each([
  ['is too long for a socket below it', `/tmp/${'x'.repeat(80)}`, /the path may have 77 bytes/],
  ['is not absolute', 'posidle', /the path isn't absolute/],
  ['is empty', '', /the path isn't absolute/],
  ['cannot be made', '/proc/none/a', /^ENOENT/],
  ['has white space, which RUBYOPT cannot take', '/tmp/a b', /white space/],
])('a directory that %s is refused', async (_, path, why) => {
  await expect(writeWitness(path)).rejects.toThrow(why);
});

test("posidle's own witness is in a directory that nobody else may enter, below /tmp where a socket or RUBYOPT could not take TMPDIR", async () => {
  for (const dir of [inDir('a space'), inDir('x'.repeat(100))]) {
    mkdirSync(dir);
    vi.stubEnv('TMPDIR', dir);
    const own = await writeOwnWitness();
    expect(own).toMatch(/^\/tmp\/posidle-\w+$/);
    expect(statSync(own).mode & 0o777).toBe(0o700);
    rmSync(own, { recursive: true });
  }
});

test("posidle's own witness that cannot be removed at the exit keeps nothing else from its end", async () => {
  const atExit = vi.spyOn(process, 'once');
  const own = await writeOwnWitness();
  const [, remove] = atExit.mock.calls.findLast(([event]) => event === 'exit') ?? [];
  vi.mocked(rmSync).mockImplementationOnce(() => {
    throw new Error('EMFILE: too many open files');
  });
  expect(() => remove?.()).not.toThrow();
  expect(rmSync).toHaveBeenCalledWith(own, expect.anything());
  remove?.();
});

describe('the environment of Fluentd', () => {
  test('names the witness first, and keeps a RUBYOPT that is there', async () => {
    const witness = `-I${inDir()}/ruby -renumerator`;
    const { env } = await loadedWitness(inDir(), { RUBYOPT: '-W0', HOME: '/root' });
    expect(env).toEqual({ RUBYOPT: `${witness} -W0`, POSIDLE_DIR: inDir(), HOME: '/root' });
    expect((await loadedWitness(inDir(), {})).env).toEqual({ RUBYOPT: witness, POSIDLE_DIR: inDir() });
  });

  test('starts any other Ruby as ever', async ({ skip }) => {
    if (spawnSync('ruby', ['--version']).status !== 0) skip('no ruby: apt-get install ruby');
    const { env } = await loadedWitness(inDir(), process.env);
    const run = (env: NodeJS.ProcessEnv) => {
      const script = 'p $LOAD_PATH, global_variables.sort, Gem.loaded_specs.keys, require("enumerator")';
      const { stdout, stderr } = spawnSync('ruby', ['-e', script], { env, encoding: 'utf8' });
      return { stdout, stderr };
    };
    expect(run(env)).toEqual({ ...run(process.env), stderr: '' });
    expect(readdirSync(inDir()).filter((name) => name.endsWith('.sock'))).toEqual([]);
  });
});
