import { execFileSync } from 'node:child_process';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readBounded } from '../../../src/node/files/bounded.ts';
import { readFile } from '../../../src/node/files/files.ts';
import { tempDir } from '../../support/temp-dir.ts';

const LIMIT = 192 * 1024;
const MIB = 2 ** 20;
const inDir = tempDir();

const read = async (path: string) => {
  const found = await readBounded(path, LIMIT);
  return found && Buffer.from(found.bytes ?? []).toString();
};

function made(text: string): string {
  writeFileSync(inDir('made'), text);
  return inDir('made');
}

function sparse(size: number): string {
  truncateSync(made(''), size);
  return inDir('made');
}

function fifo(): string {
  execFileSync('mkfifo', [inDir('fifo')]);
  return inDir('fifo');
}

function linkTo(target: string): string {
  symlinkSync(target, inDir('link'));
  return inDir('link');
}

describe('a bounded read', () => {
  test('gives a file whole, up to its limit', async () => {
    for (const text of ['', 'one\n', 'x'.repeat(LIMIT)]) expect(await read(made(text))).toBe(text);
  });

  test('gives nothing where there is no file', async () => {
    expect(await read(inDir('none'))).toBeUndefined();
    expect(await read(join(made('x'), 'below'))).toBeUndefined();
  });

  test('takes a file of /proc, whose size is said to be 0', async () => {
    expect(await read('/proc/self/status')).toMatch(/^Name:/);
  });

  test.each([
    ['a file over the limit', () => made('x'.repeat(LIMIT + 1)), 'it is too large: 192.0 KiB'],
    ['a sparse file over the limit', () => sparse(2 ** 40), 'too large: 1.0 TiB, and at most 192.0 KiB'],
    ['a link to an endless device', () => linkTo('/dev/zero'), 'it is a device, not a regular file'],
    ['a FIFO', () => fifo(), 'it is a pipe, not a regular file'],
    ['a directory', () => inDir(), 'it is a directory'],
    ['a link to itself', () => linkTo('link'), 'too many symbolic links'],
  ])('refuses %s', async (_, make, why) => {
    await expect(read(make())).rejects.toThrow(why);
  });

  test('refuses a socket', async () => {
    const server = createServer().listen(inDir('socket'));
    await expect(read(inDir('socket'))).rejects.toThrow('not a regular file');
    server.close();
  });

  test('stops where the file is longer than it says', async () => {
    // /proc/kallsyms says 0 and holds megabytes.
    await expect(read('/proc/kallsyms')).rejects.toThrow('it is longer than the system says');
  });
});

describe('a file that the daemon reads', () => {
  test('is read in the same way, and refused where it is larger than 64 MiB', async () => {
    await expect(readFile(sparse(1.5 * 2 ** 30))).rejects.toThrow('too large: 1.5 GiB, and at most 64.0 MiB');
  });

  test('is no larger than a part of the memory of the container', async () => {
    const large = sparse(17 * MIB);
    await expect(readFile(large, {}, 128 * MIB)).rejects.toThrow('17.0 MiB, and at most 16.0 MiB are read');
    expect((await readFile(large, {}, 0))?.bytes).toHaveLength(17 * MIB);
  });

  test('has no more lines than the memory of the container has room for', async () => {
    const crowd = made('\n'.repeat(16_385));
    const why = 'its 16385 lines need 64.0 MiB of memory, and only 64.0 MiB of 128.0 MiB are free';
    await expect(readFile(crowd, {}, 128 * MIB)).rejects.toThrow(why);
    for (const limit of [256 * MIB, 0])
      expect((await readFile(crowd, {}, limit))?.bytes).toHaveLength(16_385);
  });

  test('shares the memory with the entries of other pos files', async () => {
    const ten = made('\n'.repeat(10));
    expect((await readFile(ten, { alreadyKept: 16_374 }, 128 * MIB))?.bytes).toHaveLength(10);
    await expect(readFile(ten, { alreadyKept: 16_375 }, 128 * MIB)).rejects.toThrow('its 10 lines need');
  });

  test('has no longer lines than the memory of the container has room for', async () => {
    const long = made(`${'x'.repeat(4_000)}\n`.repeat(4_000));
    await expect(readFile(long, {}, 128 * MIB)).rejects.toThrow('its 4000 lines need');
    expect((await readFile(long, {}, 256 * MIB))?.bytes).toHaveLength(4_000 * 4_001);
  });
});
