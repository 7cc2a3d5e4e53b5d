import * as fs from 'node:fs/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { askWitnesses, lookForFluentd } from '../../../src/node/witness/ask-witnesses.ts';
import { tempDir } from '../../support/temp-dir.ts';

vi.mock('node:fs/promises', { spy: true });

const inDir = tempDir();

afterEach(() => {
  vi.resetAllMocks();
});

test('while the system can open no file, a witness counts as silent and not as gone', async () => {
  vi.mocked(fs.opendir).mockRejectedValue(Object.assign(new Error('ENFILE'), { code: 'ENFILE' }));
  expect(await lookForFluentd(inDir())).toBe('listening');
  const why = 'its witness cannot be asked: the system has too many files open';
  expect(await askWitnesses(inDir(), 'look', 5)).toEqual({
    at: 5,
    witnesses: [{ worker: inDir(), kind: 'silent', why, isBusy: true }],
  });
});

test('while the system cannot open the mark of a life, Fluentd counts as alive', async () => {
  vi.mocked(fs.open).mockRejectedValue(Object.assign(new Error('EMFILE'), { code: 'EMFILE' }));
  expect(await lookForFluentd(inDir())).toBe('listening');
});
