import { expect, test } from 'vitest';
import { describeDoubts, describeLeft, listed } from '../../../src/core/progress/describe.ts';
import type { Doubt, Left } from '../../../src/core/progress/progress.ts';

const unread = (path: string, bytes: number | undefined): Left => ({ kind: 'unread', path, bytes });
const doubt = (about: string | undefined, bytes?: number): Doubt => ({
  kind: 'logged',
  why: 'it was said',
  ...(about !== undefined && { about }),
  bytes,
});

const HELD: Left = { kind: 'held', output: 'out', chunks: 1, bytes: 2_048, ids: undefined, next: 'retry' };
test.each([
  ['unfound', 'Fluentd has not found it'],
  ['unreadable', 'Fluentd has no permission to read it'],
  ['unread', 'not read to its end'],
  ['unfinished', 'its last line has no newline'],
  ['let-go', 'Fluentd closed it before all of it was read'],
] as const)('what is left of a file is said in a sentence, with its kind: %s', (kind, sentence) => {
  expect(describeLeft(listed([{ kind, path: '/a', bytes: 5 }]))).toBe(`/a: ${sentence} (5 B) [${kind}]`);
});

test.each<[Left, string]>([
  [{ kind: 'given-up', path: '/a', bytes: undefined }, '/a: Fluentd gave up this chunk [given-up]'],
  [{ kind: 'kept', where: 'concat', records: 2 }, 'concat keeps 2 records [kept]'],
  [HELD, 'out holds 1 chunk (2.0 KiB), because sending failed [held]'],
  [{ ...HELD, next: 'flush' }, 'out holds 1 chunk (2.0 KiB) [held]'],
])('what is left is said in a sentence, with its kind: %o', (left, sentence) => {
  expect(describeLeft(listed([left]))).toBe(sentence);
});

test('a list of what is left names no chunk by its id, wherever it is shown', () => {
  const held: Left = { ...HELD, ids: ['a'], isOwn: true };
  expect(JSON.parse(JSON.stringify(listed([held]).worst))).toEqual([
    { kind: 'held', output: 'out', chunks: 1, bytes: 2_048, next: 'retry' },
  ]);
});

test('a doubt is said with its kind, and with the thing that it is about, where there is one', () => {
  expect(describeDoubts(listed([doubt('out_http.rb'), doubt(undefined)]))).toBe(
    'out_http.rb: it was said [logged]; it was said [logged]',
  );
});

test('the three largest of many things are described, and the others counted', () => {
  const three = [unread('/a', 1), unread('/b', 2_048), unread('/c', undefined)];
  expect(describeLeft(listed(three))).toBe(
    '/b: not read to its end (2.0 KiB) [unread]; /a: not read to its end (1 B) [unread]; /c: not read to its end [unread]',
  );
  const five = [...three, unread('/d', 3), unread('/e', 2)];
  expect(describeLeft(listed(five))).toBe(
    '/b: not read to its end (2.0 KiB) [unread]; /d: not read to its end (3 B) [unread]; /e: not read to its end (2 B) [unread]; and 2 more',
  );
});

test('the ten largest of many things are listed, and all are counted', () => {
  const doubts = Array.from({ length: 12 }, (_, index) => doubt(`/${index}`, index));
  const { count, bytes, worst } = listed(doubts);
  expect({ count, bytes }).toEqual({ count: 12, bytes: 66 });
  expect(worst.map(({ about }) => about).join(' ')).toBe('/11 /10 /9 /8 /7 /6 /5 /4 /3 /2');
});

test('records that were counted are said before what has a size', () => {
  const large = { kind: 'closed-unread', about: '/log/a.log', why: 'it is gone', bytes: 9_000_000 } as const;
  const lost = { kind: 'undelivered', about: 'http', why: '1 record lost (its buffer was full)' } as const;
  expect(describeDoubts(listed([large, large, large, lost]))).toMatch(/^http: 1 record lost/);
});
