import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { install } from '../../../src/node/install/install.ts';
import { needsRoot } from '../../support/needs.ts';

let from = '';
let dir = '';

beforeEach(() => {
  from = mkdtempSync(join(tmpdir(), 'posidle-from-'));
  dir = mkdtempSync(join(tmpdir(), 'posidle-install-'));
  chmodSync(dir, 0o755);
  // A Node that is small: it says a version, whatever it is to run.
  writeFileSync(join(from, 'node'), '#!/bin/sh\necho 1.2.3\n', { mode: 0o755 });
  writeFileSync(join(from, 'libc.so.6'), 'a library');
  writeFileSync(join(from, 'posidle.cjs'), 'the bundle');
});
afterEach(() => {
  for (const made of [from, dir]) rmSync(made, { recursive: true });
});

const run = () => {
  const runtime = { program: join(from, 'node'), loader: undefined };
  return install(join(from, 'posidle.cjs'), dir, {
    ...runtime,
    libraries: new Map([['libc.so.6', join(from, 'libc.so.6')]]),
  });
};

describe('install', () => {
  test('leaves alone what it has installed before', async () => {
    expect(await run()).toMatchObject({ version: '1.2.3', wasThere: false });
    const before = filesIn(dir);
    expect(await run()).toMatchObject({ version: '1.2.3', wasThere: true });
    expect(filesIn(dir)).toEqual(before);
  });

  test('makes usable what an earlier install has left for its own user alone', async () => {
    await run();
    const before = filesIn(dir);
    chmodSync(join(dir, '.posidle'), 0o700);
    chmodSync(join(home(), 'node'), 0o700);
    await run();
    expect(filesIn(dir)).toEqual(before);
  });

  test('says that a directory stands where the command should be, and leaves nothing unfinished', async () => {
    mkdirSync(join(dir, 'posidle'));
    await expect(run()).rejects.toMatchObject({ code: 'EISDIR' });
    const before = filesIn(dir);
    await expect(run()).rejects.toMatchObject({ code: 'EISDIR' });
    expect(filesIn(dir)).toEqual(before);
  });
});

describe('install beside what somebody else has put there before', () => {
  /** Says that it has run, and passes for posidle. */
  const planted = () => `#!/bin/sh\ntouch ${dir}/ran\necho 9.9.9\n`;

  test.each([
    ['another Node', () => writeFileSync(join(home(), 'node'), planted(), { mode: 0o755 })],
    ['another bundle of the same length', () => writeFileSync(join(home(), 'posidle.cjs'), 'THE BUNDLE')],
    ['a bundle without an end', () => spawnSync('truncate', ['-s', '1T', join(home(), 'posidle.cjs')])],
    ['one more library', () => writeFileSync(join(home(), 'lib', 'libnss_files.so.2'), planted())],
    ['one library less', () => rmSync(join(home(), 'lib', 'libc.so.6'))],
    ['a FIFO in place of a file', () => replace(join(home(), 'posidle.cjs'), 'mkfifo')],
    ['a link in place of a file', () => linkInPlaceOf(join(home(), 'node'))],
    ['a link in place of the folder', () => linkInPlaceOf(home())],
    ['a file that everybody may change', () => chmodSync(join(home(), 'node'), 0o777)],
    ['a folder that everybody may change', () => chmodSync(join(home(), 'lib'), 0o777)],
    ['another command', () => writeFileSync(join(dir, 'posidle'), planted(), { mode: 0o755 })],
  ])('installs anew over %s, and runs nothing of it', async (_, plant) => {
    await run();
    const before = filesIn(dir);
    plant();
    expect(await run()).toMatchObject({ version: '1.2.3' });
    expect(filesIn(dir).filter(({ name }) => !name.startsWith('elsewhere'))).toEqual(before);
  });

  test('installs anew over the files of another user', async (context) => {
    needsRoot(context);
    await run();
    chownSync(join(home(), 'node'), 1000, 1000);
    expect(await run()).toMatchObject({ wasThere: false });
    expect(statSync(join(home(), 'node')).uid).toBe(0);
  });

  test.each([
    ['at the place of the command', () => 'posidle'],
    ['that waits for its pid', () => `posidle.${process.pid}`],
  ])('writes through no link %s', async (_, name) => {
    writeFileSync(join(from, 'precious'), 'precious');
    symlinkSync(join(from, 'precious'), join(dir, name()));
    await run();
    expect(readFileSync(join(from, 'precious'), 'utf8')).toBe('precious');
    expect(lstatSync(join(dir, 'posidle')).isFile()).toBe(true);
  });

  test('writes into no folder that a link leads to', async () => {
    mkdirSync(join(dir, 'elsewhere'));
    symlinkSync(join(dir, 'elsewhere'), join(dir, '.posidle'));
    await expect(run()).rejects.toThrow(`${dir}/.posidle is not a directory of this user: remove it`);
    expect(readdirSync(join(dir, 'elsewhere'))).toEqual([]);
  });

  test('takes no folder of another user', async (context) => {
    needsRoot(context);
    mkdirSync(join(dir, '.posidle'));
    chownSync(join(dir, '.posidle'), 1000, 1000);
    await expect(run()).rejects.toThrow('.posidle is not a directory of this user: remove it');
    expect(readdirSync(join(dir, '.posidle'))).toEqual([]);
  });
});

function home(): string {
  const [name = ''] = readdirSync(join(dir, '.posidle'));
  return join(dir, '.posidle', name);
}

/** Each with its kind, its mode and its contents. */
function filesIn(target: string) {
  return readdirSync(target, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mode } = lstatSync(join(target, name));
      const text = statSync(join(target, name)).isFile() ? readFileSync(join(target, name)) : '';
      return { name, mode, digest: createHash('sha256').update(text).digest('hex') };
    });
}

function replace(path: string, command: string): void {
  rmSync(path);
  spawnSync(command, [path]);
}

/** The same contents, at a place where somebody else can change them. */
function linkInPlaceOf(path: string): void {
  const elsewhere = join(dir, 'elsewhere');
  renameSync(path, elsewhere);
  symlinkSync(elsewhere, path);
}
