import * as fs from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { placesBelow } from '../../../src/node/files/below-root.ts';
import { tempDir } from '../../support/temp-dir.ts';

vi.mock('node:fs', { spy: true });

const inDir = tempDir();

afterEach(() => {
  vi.clearAllMocks();
});

test('below a directory that is not there, nothing is looked up', () => {
  const path = `/none${'/a'.repeat(1_000)}`;
  expect(placesBelow(inDir())(path)).toBe(inDir() + path);
  expect(fs.lstatSync).toHaveBeenCalledTimes(1);
});

test('above it, everything is looked up again', () => {
  fs.mkdirSync(inDir('real'));
  fs.symlinkSync('/real', inDir('link'));
  expect(placesBelow(inDir())('/none/a/../../link/b')).toBe(inDir('real/b'));
  expect(placesBelow(inDir())('/none/a/../link/b')).toBe(inDir('none/link/b'));
});
