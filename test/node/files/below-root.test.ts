import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { placesBelow } from '../../../src/node/files/below-root.ts';
import { tempDir } from '../../support/temp-dir.ts';

const inRoot = tempDir();
const resolve = (path: string) => placesBelow(inRoot())(path).slice(inRoot().length);

describe('a path below a root', () => {
  test('follows links there, in directories and at its end', () => {
    mkdirSync(inRoot('data/logs'), { recursive: true });
    symlinkSync('/data', inRoot('absolute'));
    symlinkSync('../data/logs', inRoot('data/relative'));
    symlinkSync('../../../../data', inRoot('up'));
    writeFileSync(inRoot('data/logs/a.log'), '');
    expect(resolve('/absolute/logs/a.log')).toBe('/data/logs/a.log');
    expect(resolve('/absolute/relative/./a.log')).toBe('/data/logs/a.log');
    expect(resolve('/up/logs//a.log')).toBe('/data/logs/a.log');
    expect(resolve('/data/logs/../relative/a.log')).toBe('/data/logs/a.log');
    expect(resolve('/data/none/a.log')).toBe('/data/none/a.log');
    expect(resolve('/../..')).toBe('');
  });

  test('leads nowhere where its links have no end', () => {
    symlinkSync('loop', inRoot('loop'));
    expect(() => resolve('/loop/a.log')).toThrow('too many symbolic links');
  });
});
