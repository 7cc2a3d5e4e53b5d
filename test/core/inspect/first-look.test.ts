import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../../src/core/drain/policy.ts';
import { needsSecondLook, observeSingle, presumeStuck } from '../../../src/core/inspect/first-look.ts';
import { observe } from '../../../src/core/look/observe.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { ABSENT, entry, reading, snapshot } from '../../support/builders.ts';
import { foundOf, type Written } from '../../support/overviews.ts';

const first = (file: Written, writtenAgo: number) => {
  const found = foundOf({ '/a': file }, { writtenAgo });
  const [one] = found.posFiles[0]?.files ?? [];
  return { state: one?.state, age: found.seen.at - (one?.movedAt ?? 0) };
};
const unread = { size: 9, position: 5 };

test.each([
  ['neither has been written for 10 s', 10_000, 10_000, 'blocked', 10_000],
  ['the pos file was written within 10 s', 9_999, 60_000, 'behind', 9_999],
  ['the log was written within 10 s', 60_000, 9_999, 'behind', 60_000],
  ['nobody knows when the pos file was written', Infinity, 60_000, 'behind', Infinity],
])('a first look at unread bytes where %s', (_, writtenAgo, age, state, moved) => {
  expect(first({ ...unread, age }, writtenAgo)).toEqual({ state, age: moved });
});

test('a fully read file was read when it was written, or when its pos file was', () => {
  expect(first({ size: 5, position: 5, age: 30_000 }, 1_000)).toEqual({ state: 'caught-up', age: 30_000 });
  expect(first({ size: 5, position: 5, age: 1_000 }, 30_000)).toEqual({ state: 'caught-up', age: 30_000 });
});

test.each([
  ['blocked where nothing was read meanwhile', 5, 'blocked'],
  ['behind where something was', 6, 'behind'],
])('a second look at a log that is being written finds it %s', (_, position, state) => {
  const snapshotOf = (at: number, of: number): Snapshot => {
    const read = entry({ position: of });
    const look = { atPath: { inode: '7', size: 9, writtenAgo: 100 }, newlineLeft: true };
    return snapshot(at, [[read, look]], { posFiles: [reading([[read]], 60_000)], fluentd: ABSENT });
  };
  const one = snapshotOf(100_000, 5);
  const seen = observeSingle(one, DEFAULT_POLICY);
  expect(seen.files).toMatchObject([{ state: 'behind' }]);
  expect(needsSecondLook(seen, one.posFiles)).toBe(true);
  const two = snapshotOf(102_000, position);
  expect(observe(presumeStuck(one, DEFAULT_POLICY), two, DEFAULT_POLICY).files).toMatchObject([{ state }]);
});
