import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BelowRoot } from '../../../src/node/files/below-root.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';

const DEEP = '/d'.repeat(1_000);
let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'posidle-root-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const resolve = (path: string) => new BelowRoot(root).resolve(path).slice(root.length);

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

  test.each<[string, (index: number) => string]>([
    ['are not there', (index) => `/${index}${DEEP}`],
    ['are there', (index) => `${DEEP}${index}`],
    ['are named by dots', (index) => `${'/d/..'.repeat(500)}${index}`],
  ])('takes no time for directories that %s, a thousand deep', async (_, directory) => {
    mkdirSync(root + DEEP, { recursive: true });
    const below = new BelowRoot(root);
    const paths = Array.from({ length: 4_000 }, (_, index) => `${directory(index)}/a.log`);
    expect(await cpuSeconds(() => paths.forEach((path) => void below.resolve(path)))).toBeLessThan(4);
  });
});
