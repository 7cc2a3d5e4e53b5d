import { describe, expect, test } from 'vitest';
import { ageOf, memoryByAges } from '../../../src/core/inspect/ages.ts';
import type { FileLook } from '../../../src/core/look/snapshot.ts';
import { judge } from '../../../src/core/observe/judge-entry.ts';
import { entry, POS } from '../../support/builders.ts';

const look = (size: number, writtenAgo: number): FileLook => ({
  atPath: { inode: '7', size, writtenAgo },
  newlineLeft: true,
});
/** A pos file as one look finds it. */
const posFile = (writtenAgo: number, before?: number) => ({
  ...{ path: POS, at: 100_000, before, writtenAgo },
  keyOf: () => '',
  isLast: () => true,
  hasInode: () => false,
});
const stateOf = (file: FileLook, view: ReturnType<typeof posFile>) =>
  judge(entry(), file, memoryByAges(entry(), file, view), view)?.state;

describe('by the ages of pos file and log', () => {
  test('the first look finds a file blocked where both have stood still for the blocked window', () => {
    expect(stateOf(look(200, 10_000), posFile(10_000))).toBe('blocked');
    expect(stateOf(look(200, 9_999), posFile(10_000))).toBe('behind');
    expect(stateOf(look(200, 60_000), posFile(9_999))).toBe('behind');
  });

  test('a later look finds nothing: it has a memory of its own', () => {
    expect(stateOf(look(200, 60_000), posFile(60_000, 99_000))).toBe('behind');
  });

  test('what is read is dated by the log, and what is left by the pos file', () => {
    const age = (size: number, posFileAge: number | null) => {
      const view = posFile(posFileAge ?? 0);
      const file = judge(entry(), look(size, 5_000), undefined, view);
      return file && ageOf(file, look(size, 5_000), posFileAge);
    };
    expect(age(100, 20)).toBe(5_000);
    expect(age(100, 9_000)).toBe(9_000);
    expect(age(200, 20)).toBe(20);
    expect(age(100, null)).toBeNull();
  });
});
