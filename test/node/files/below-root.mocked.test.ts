import * as fs from 'node:fs';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { placesBelow } from '../../../src/node/files/below-root.ts';
import { tempDir } from '../../support/temp-dir.ts';

vi.mock('node:fs', { spy: true });

const inDir = tempDir();

beforeEach(() => {
  vi.clearAllMocks();
});

test('below a directory that is not there, nothing is looked up', () => {
  const path = `/none${'/a'.repeat(1_000)}`;
  expect(placesBelow(inDir())(path)).toBe(inDir() + path);
  expect(fs.lstatSync).toHaveBeenCalledTimes(1);
});

test('one look looks up a directory once for all files there', () => {
  const directory = '/a'.repeat(100);
  fs.mkdirSync(inDir() + directory, { recursive: true });
  fs.symlinkSync(directory, inDir('link'));
  const placeOf = placesBelow(inDir());
  for (const name of ['0', '1', '2']) {
    expect(placeOf(`${directory}/${name}`)).toBe(`${inDir()}${directory}/${name}`);
    expect(placeOf(`/link/${name}`)).toBe(`${inDir()}${directory}/${name}`);
  }
  const [directories, links, files] = [100, 1, 6];
  expect(fs.lstatSync).toHaveBeenCalledTimes(directories + links + files);
});

describe('a path below a root', () => {
  const resolve = (path: string) => placesBelow(inDir())(path).slice(inDir().length);

  test('follows links there, in directories and at its end', () => {
    fs.mkdirSync(inDir('data/logs'), { recursive: true });
    fs.symlinkSync('/data', inDir('absolute'));
    fs.symlinkSync('../data/logs', inDir('data/relative'));
    fs.symlinkSync('../../../../data', inDir('up'));
    fs.writeFileSync(inDir('data/logs/a.log'), '');
    expect(resolve('/absolute/logs/a.log')).toBe('/data/logs/a.log');
    expect(resolve('/absolute/relative/./a.log')).toBe('/data/logs/a.log');
    expect(resolve('/up/logs//a.log')).toBe('/data/logs/a.log');
    expect(resolve('/data/logs/../relative/a.log')).toBe('/data/logs/a.log');
    expect(resolve('/data/none/a.log')).toBe('/data/none/a.log');
    expect(resolve('/../..')).toBe('');
  });

  test('leads nowhere where its links have no end', () => {
    fs.symlinkSync('loop', inDir('loop'));
    expect(() => resolve('/loop/a.log')).toThrow('too many symbolic links');
  });
});
