import { describe, expect, test } from 'vitest';
import { summaryOf } from '../../../src/core/inspect/overview.ts';
import { overviewOf } from '../../support/overviews.ts';

const left = overviewOf({
  '/a': { size: 3_000, position: 0, age: 60_000 },
  '/b': { size: 5, position: 5 },
});

describe('the summary', () => {
  test('tells a pos file that is empty from one that could not be read', () => {
    const of = (empty: boolean) => summaryOf(overviewOf({}, { error: 'why', empty }));
    expect([of(true), of(false)]).toEqual([
      'lag unknown; 1 pos file is empty',
      'lag unknown; could not read 1 pos file',
    ]);
  });

  test('tells how much is left in how many files', () => {
    expect(summaryOf(left)).toBe('behind by 2.9 KiB in 1 of 2 files');
    expect(summaryOf(overviewOf({}))).toBe('caught up: 0 files');
  });

  test('names no bytes where of no file that is left the lag is known', () => {
    const gone = { size: null, position: 0 };
    expect(summaryOf(overviewOf({ '/a': gone, '/b': { size: 5, position: 5 } }))).toBe(
      'lag unknown for 1 of 2 files',
    );
    expect(summaryOf(overviewOf({ '/a': gone, '/b': { size: 5, position: 1 } }))).toBe(
      'behind by at least 4 B in 2 of 2 files',
    );
  });
});
