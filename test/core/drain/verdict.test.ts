import { describe, expect, test } from 'vitest';
import { verdictOf } from '../../../src/core/drain/outcome.ts';
import type { End } from '../../../src/core/drain/state.ts';
import { type Doubt, type Left, type Progress, pendingChunks } from '../../../src/core/progress/progress.ts';
import { progressFromWitnesses } from '../../../src/core/witness/reports.ts';
import { alive } from '../../support/witnesses.ts';

const DOUBT: Doubt = { kind: 'heard', about: 'out_http.rb', why: 'Fluentd said it' };
const KEPT: Left = { kind: 'kept', where: 'concat', records: 1 };
const UNREAD: Left = { kind: 'unread', path: '/a', bytes: 1 };

function held(...ids: readonly string[]): Left {
  return { kind: 'held', output: 'out', chunks: ids.length, bytes: 1, ids, next: 'flush' };
}

/** What a witness says that has taken 20 records, but for these changes. */
function progress(changed: Partial<Progress> = {}): Progress {
  return { ...progressFromWitnesses({ at: 0, witnesses: [alive()] }), taken: 20, ...changed };
}

test('a chunk that came out only when Fluentd stopped is left, if a plugin may have kept its records', () => {
  const pending = pendingChunks(progress());
  const came = (kind: Doubt['kind'], end: End['kind']) =>
    verdictOf(progress({ left: [held('new')], doubts: [{ ...DOUBT, kind }] }), pending, end).word;
  expect(came('may-hold', 'stopped')).toBe('not-drained');
  expect(came('heard', 'stopped')).toBe('unproven');
  // Another source may have written it, and Fluentd sends it later.
  expect(came('may-hold', 'left-to-kubelet')).toBe('unproven');
});

describe('chunks that came after everything was read', () => {
  const pending = pendingChunks(progress({ left: [held('a'), UNREAD] }));
  const left = (...found: readonly Left[]) => verdictOf(progress({ left: found }), pending, 'stopped').left;
  const unnamed: Left = { ...held(), ids: undefined } as Left;

  test('do not count, because others may feed the same output all the time, and hide nothing else', () => {
    expect(left(held('b'))).toEqual([]);
    expect(left(held('a', 'b'))).toEqual([held('a')]);
    expect(left(UNREAD, KEPT)).toEqual([UNREAD, KEPT]);
  });

  const own = { ...held('c'), isOwn: true } as Left;
  test.each<[string, Partial<Progress>, Partial<typeof pending>?]>([
    [
      "a buffer has taken records of an input since, but for a buffer of Fluentd's own log",
      { left: [held('b'), own], taken: 21 },
    ],
    ['nobody counted what buffers took', { taken: undefined }, { taken: undefined }],
    ['lines came in after that', { mark: 'n' }],
  ])('count if %s', (_, later, before = {}) => {
    const found = progress({ left: [held('b')], ...later });
    expect(verdictOf(found, { ...pending, ...before }, 'stopped').left).toEqual([held('b')]);
  });

  test('count if not all have an id', () => {
    const before = pendingChunks(progress({ left: [unnamed] }));
    expect(verdictOf(progress({ left: [held('b')] }), before, 'stopped').word).toBe('not-drained');
    expect(left(unnamed)).toEqual([unnamed]);
  });
});
