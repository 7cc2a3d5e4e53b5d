import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BelowRoot } from '../../../src/node/files/below-root.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';
import { tempDir } from '../../support/temp-dir.ts';

const DEEP = '/d'.repeat(1_000);
const inRoot = tempDir();
const resolve = (path: string) => new BelowRoot(inRoot()).resolve(path).slice(inRoot().length);

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

  test.each<[string, (index: number) => string]>([
    ['are not there', (index) => `/${index}${DEEP}`],
    ['are there', (index) => `${DEEP}${index}`],
    ['are named by dots', (index) => `${'/d/..'.repeat(500)}${index}`],
  ])('takes no time for directories that %s, a thousand deep', async (_, directory) => {
    mkdirSync(inRoot(DEEP), { recursive: true });
    const below = new BelowRoot(inRoot());
    const paths = Array.from({ length: 4_000 }, (_, index) => `${directory(index)}/a.log`);
    expect(await cpuSeconds(() => paths.forEach((path) => void below.resolve(path)))).toBeLessThan(4);
  });
});
