import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isAnotherBirth } from '../../../src/core/look/file-times.ts';
import { bornAt } from '../../../src/node/files/files.ts';

test('a file was made at one time, however it is asked, and another file at another time', () => {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-born-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'app.log');
  writeFileSync(path, 'one\n');
  const [file, same] = [{ born: bornAt(statSync(path)) }, { born: bornAt(statSync(path, { bigint: true })) }];
  expect(isAnotherBirth(file, same)).not.toBe(true);
  expect(isAnotherBirth({ born: 1_000 }, { born: 1_001 })).toBe(false);
  expect(isAnotherBirth({ born: 1_000 }, { born: 1_002 })).toBe(true);
  expect(isAnotherBirth({ born: 1_000 }, {})).toBeUndefined();
});

test('nobody knows when a file was made where the time of its last change is told for it, or nothing is', async () => {
  vi.resetModules();
  const fresh = await import('../../../src/node/files/files.ts');
  const born = (birthtimeMs: number, ctimeMs: number) =>
    fresh.bornAt({ birthtimeMs, ctimeMs } as Parameters<typeof bornAt>[0]);
  expect([born(5, 5), born(0, 9)]).toEqual([undefined, undefined]);
  // One file that was changed later shows that births are told.
  expect([born(5.9, 9), born(7, 7), born(0, 9)]).toEqual([5, 7, undefined]);
});
