import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { appendNewline } from '../../../src/node/files/safe-write.ts';
import { tempDir } from '../../support/temp-dir.ts';

const inDir = tempDir();
let path: string;

beforeEach(() => {
  path = inDir('a.log');
});

describe('an unfinished last line', () => {
  test('is ended, whatever the encoding of its text', async () => {
    for (const text of ['one\ntwo', '日本\n日', Buffer.from([0x93, 0xfa, 0x96, 0x7b])]) {
      writeFileSync(path, text);
      await appendNewline(path, Buffer.byteLength(text));
      expect(readFileSync(path)).toEqual(Buffer.concat([Buffer.from(text), Buffer.from('\n')]));
    }
  });

  test('is left alone where somebody has written to it since', async () => {
    writeFileSync(path, 'one\ntwo\n');
    await appendNewline(path, 7);
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  });

  test.each([
    ['gzip', gzipSync('one\ntwo\n', { level: 9 })],
    ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2])],
    ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 1])],
    ['bzip2', Buffer.from('BZh91AY&SY')],
    ['bytes with a NUL', Buffer.from('one\0two')],
  ])('of %s is none: a newline would damage it', async (_, bytes) => {
    writeFileSync(path, bytes);
    await expect(appendNewline(path, bytes.length)).rejects.toThrow(
      'it is compressed or binary, and no text',
    );
    expect(readFileSync(path)).toEqual(bytes);
  });

  test.each([
    ['a symbolic link', symlinkSync],
    ['a hard link', linkSync],
  ])('is not ended through %s: it may lead to the file of another', async (_, link) => {
    const other = inDir('other');
    writeFileSync(other, 'precious');
    link(other, path);
    await expect(appendNewline(path, 8)).rejects.toThrow();
    expect(readFileSync(other, 'utf8')).toBe('precious');
  });

  test('is not ended where a link leads to the directory of another', async () => {
    mkdirSync(inDir('other'));
    writeFileSync(inDir('other/b.log'), 'precious');
    symlinkSync(inDir('other'), inDir('logs'));
    const appended = appendNewline(inDir('logs/b.log'), 8);
    await expect(appended).rejects.toThrow('a symbolic link leads to its directory');
    expect(readFileSync(inDir('other/b.log'), 'utf8')).toBe('precious');
  });
});
