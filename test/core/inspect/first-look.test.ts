import { expect, test } from 'vitest';
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
