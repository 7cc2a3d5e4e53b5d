import { describe, expect, test } from 'vitest';
import {
  type Doubt,
  describeDoubts,
  describeLeft,
  type Left,
  owedIn,
  type Progress,
} from '../../../src/core/progress/progress.ts';
import { verdictOf } from '../../../src/core/progress/verdict.ts';

const DOUBT: Doubt = { kind: 'heard', about: 'out_http.rb', why: 'Fluentd said it' };
const KEPT: Left = { kind: 'kept', where: 'concat', records: 1 };

function held(...ids: readonly string[]): Left {
  return { kind: 'held', output: 'out', chunks: ids.length, bytes: 1, ids };
}

function progress(changed: Partial<Progress> = {}): Progress {
  return { at: 0, left: [], doubts: [], mark: 'm', files: 1, outputs: [], ...changed };
}

describe('the word is', () => {
  test.each([
    ['drained', 'where nothing is left and nothing is doubted', progress()],
    ['unproven', 'where something is doubted', progress({ doubts: [DOUBT] })],
    [
      'not drained',
      'where something is left, doubted or not',
      progress({ left: [held('a')], doubts: [DOUBT] }),
    ],
  ] as const)('%s %s', (word, _, found) => {
    expect(verdictOf(found, undefined, false).word).toBe(word);
  });

  test('unproven of what a Fluentd keeps that runs on, and not drained of one that has ended', () => {
    const found = progress({ left: [KEPT] });
    expect(verdictOf(found, undefined, true)).toMatchObject({
      word: 'unproven',
      left: [],
      doubts: [{ kind: 'kept' }],
    });
    expect(verdictOf(found, undefined, false)).toMatchObject({ word: 'not drained', left: [KEPT] });
  });
});

describe('chunks that came after everything was read', () => {
  const owed = owedIn(progress({ left: [held('a')] }));

  test('do not count, for others may feed the same output all the time', () => {
    expect(verdictOf(progress({ left: [held('b')] }), owed, false).word).toBe('drained');
    expect(verdictOf(progress({ left: [held('a', 'b')] }), owed, false).left).toEqual([held('a')]);
  });

  test('count where lines came in after that', () => {
    expect(verdictOf(progress({ left: [held('b')], mark: 'n' }), owed, false).word).toBe('not drained');
  });

  test('count where not all have an id', () => {
    const unnamed: Left = { kind: 'held', output: 'out', chunks: 3_000, bytes: 1, ids: undefined };
    const before = owedIn(progress({ left: [unnamed] }));
    expect(verdictOf(progress({ left: [held('b')] }), before, false).word).toBe('not drained');
    expect(verdictOf(progress({ left: [unnamed] }), owed, false).word).toBe('not drained');
  });
});

test('the sentence names the largest three, and counts the rest', () => {
  const unread = (path: string, bytes: number | undefined): Left => ({ kind: 'unread', path, bytes });
  const left = [
    unread('/a', 1),
    unread('/b', 2_048),
    unread('/c', undefined),
    unread('/d', 3),
    unread('/e', 2),
  ];
  expect(describeLeft(left)).toBe(
    '/b: not read to its end (2.0 KiB); /d: not read to its end (3 B); /e: not read to its end (2 B); and 2 more',
  );
  expect(describeDoubts([DOUBT])).toBe('out_http.rb: Fluentd said it');
});
