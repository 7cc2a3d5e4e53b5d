import { expect, test } from 'vitest';
import { DRAIN_REQUESTS } from '../../../src/core/progress/drain-request.ts';
import { bytesToRead, type Left } from '../../../src/core/progress/progress.ts';

test('the bytes to read are those of unread and unfound files, as far as they are known', () => {
  const sized = (kind: 'unread' | 'unfound' | 'unfinished', bytes: number | undefined): Left => ({
    kind,
    path: '/log/a.log',
    bytes,
  });
  const left = [sized('unread', 5), sized('unfound', 3), sized('unread', undefined), sized('unfinished', 9)];
  expect(bytesToRead({ left })).toBe(8);
});

test("the grace period counts from a signal, a call of `drain` and the kubelet's word, but from no file and no POST", () => {
  const timed = Object.entries(DRAIN_REQUESTS).filter(([, { isTimed }]) => isTimed);
  expect(timed.map(([by]) => by)).toEqual(['SIGTERM', 'SIGINT', 'SIGQUIT', 'main-ended', 'drain']);
});
