import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SizeHistory } from '../../../src/core/inspect/size-history.ts';
import { RUNS } from '../../support/arbitraries.ts';

describe('how long the oldest unread byte has waited', () => {
  const turn = fc.record({
    after: fc.integer({ min: 1, max: 3_000 }),
    written: fc.constantFrom(0, 0, 1, 50, 1_000),
    /** The share of the file that is read. */
    share: fc.constantFrom(0, 0, 0.3, 0.9, 1),
  });

  test('is right within one look, whenever lines are written and read', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 100 }), (turns) => {
        const history = new SizeHistory();
        const every = 1_000;
        /** When each byte was written. */
        const writtenAt: number[] = [];
        let [at, position, nextLook] = [0, 0, 0];
        for (const { after, written, share } of turns) {
          for (; nextLook < at + after; nextLook += every) {
            const told = history.record(nextLook, writtenAt.length, position);
            const truth = position < writtenAt.length ? nextLook - (writtenAt[position] ?? 0) : 0;
            expect(told).not.toBeNull();
            expect((told ?? 0) - truth).toBeGreaterThanOrEqual(0);
            expect((told ?? 0) - truth).toBeLessThanOrEqual(every);
          }
          at += after;
          for (let byte = 0; byte < written; byte += 1) writtenAt.push(at);
          position += Math.floor((writtenAt.length - position) * share);
        }
      }),
      RUNS,
    );
  });

  test('is unknown while the first look has found more than is read', () => {
    const history = new SizeHistory();
    expect([history.record(0, 100, 50), history.record(1_000, 200, 99)]).toEqual([null, null]);
    expect(history.record(2_000, 200, 100)).toBe(2_000);
    expect(history.record(3_000, 200, 200)).toBe(0);
  });

  test('begins anew where the file is cut short', () => {
    const history = new SizeHistory();
    history.record(0, 100, 100);
    expect(history.record(1_000, 10, 0)).toBe(1_000);
  });

  test('is exact to a fiftieth after a day without reading, from few points', () => {
    const history = new SizeHistory();
    const told = [];
    for (let second = 0; second <= 86_400; second += 1) told.push(history.record(second * 1_000, second, 0));
    expect(told.at(-1)).toBe(86_400_000);
    expect(Math.abs((history.record(86_400_000, 86_400, 43_200) ?? 0) - 43_200_000)).toBeLessThan(
      86_400_000 / 50,
    );
  });
});
