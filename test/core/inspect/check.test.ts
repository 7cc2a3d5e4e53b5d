import { describe, expect, test } from 'vitest';
import { check } from '../../../src/core/inspect/check.ts';
import { type Overview, overview } from '../../../src/core/inspect/overview.ts';
import { overviewOf } from '../../support/overviews.ts';

const left = overviewOf({
  '/a': { size: 3_000, position: 0, age: 60_000 },
  '/b': { size: 5, position: 5 },
});

describe('the check', () => {
  test('holds the lag and the age against their limits', () => {
    expect(check(left, { lag: 3_000, age: undefined }).passed).toBe(true);
    expect(check(left, { lag: 2_999, age: undefined })).toEqual({
      passed: false,
      reason: 'behind by 2.9 KiB in 1 of 2 files (limit 2.9 KiB)',
    });
    expect(check(left, { lag: undefined, age: 60_000 }).passed).toBe(true);
    expect(check(left, { lag: undefined, age: 59_999 })).toEqual({
      passed: false,
      reason: 'behind by 2.9 KiB in 1 of 2 files; /a has not moved for 60 s (limit 60 s)',
    });
  });

  test('passes without limits exactly where it is caught up: an unfinished last line is nothing to read', () => {
    const torn = overviewOf({ '/a': { size: 9, position: 4, newlineLeft: false } });
    expect(torn).toMatchObject({ lag: 5, caughtUp: true });
    expect(check(torn, { lag: 0, age: undefined })).toEqual({
      passed: true,
      reason: 'caught up, but for unfinished last lines of 5 B in 1 of 1 file',
    });
    const both = overviewOf({
      '/a': { size: 9, position: 4, newlineLeft: false },
      '/b': { size: 3, position: 0 },
    });
    expect([2, 3].map((lag) => check(both, { lag, age: undefined }).passed)).toEqual([false, true]);
  });

  test('never passes where something is unknown', () => {
    const posFile = { ...left.posFiles[0], path: '/x.pos', error: 'it is a directory' };
    const broken = overview({
      posFiles: [posFile as Overview['posFiles'][0]],
      undiscovered: [],
      unlisted: [],
      buffers: undefined,
    });
    expect(check(broken, { lag: 1e9, age: undefined })).toMatchObject({
      passed: false,
      reason: expect.stringMatching(/^\/x\.pos: it is a directory; behind by at least 2\.9 KiB/),
    });
  });
});
