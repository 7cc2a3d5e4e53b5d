import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { placesBelow } from '../../../src/node/files/below-root.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'posidle-root-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const resolve = (path: string) => placesBelow(root)(path).slice(root.length);

describe('a path below a root', () => {
  test('follows links there, in directories and at its end', () => {
    mkdirSync(join(root, 'data/logs'), { recursive: true });
    symlinkSync('/data', join(root, 'absolute'));
    symlinkSync('../data/logs', join(root, 'data/relative'));
    symlinkSync('../../../../data', join(root, 'up'));
    writeFileSync(join(root, 'data/logs/a.log'), '');
    expect(resolve('/absolute/logs/a.log')).toBe('/data/logs/a.log');
    expect(resolve('/absolute/relative/./a.log')).toBe('/data/logs/a.log');
    expect(resolve('/up/logs//a.log')).toBe('/data/logs/a.log');
    expect(resolve('/data/logs/../relative/a.log')).toBe('/data/logs/a.log');
    expect(resolve('/data/none/a.log')).toBe('/data/none/a.log');
    expect(resolve('/../..')).toBe('');
  });

  test('leads nowhere where its links have no end', () => {
    symlinkSync('loop', join(root, 'loop'));
    expect(() => resolve('/loop/a.log')).toThrow('too many symbolic links');
  });
});
