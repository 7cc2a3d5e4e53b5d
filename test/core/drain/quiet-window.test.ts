import { describe, expect, test } from 'vitest';
import { quietBy } from '../../../src/core/drain/quiet-window.ts';
import { entry, policy, seen, snapshot } from '../../support/builders.ts';

describe('the quiet window', () => {
  const window = policy({ quiet: 5_000 });
  const [unmoved, moved] = [entry(), entry({ position: 200 })];
  const grown = { atPath: { inode: '7', size: 300 }, newlineLeft: true };

  test('is over when nothing has moved for so long', () => {
    const looks = [0, 4_999, 5_000].map((at) => snapshot(at, [[unmoved]]));
    expect(quietBy(seen(looks.slice(0, 2)), window)).toBeUndefined();
    expect(quietBy(seen(looks), window)).toEqual({ by: 'quiet', at: 5_000 });
  });

  test('begins anew with a movement', () => {
    const looks = [snapshot(0, [[unmoved]]), snapshot(4_000, [[moved]]), snapshot(5_000, [[moved]])];
    expect(quietBy(seen(looks), window)).toBeUndefined();
    expect(quietBy(seen([...looks, snapshot(9_000, [[moved]])]), window)).toEqual({ by: 'quiet', at: 9_000 });
  });

  test('is not over while bytes are left', () => {
    expect(quietBy(seen([0, 60_000].map((at) => snapshot(at, [[unmoved, grown]]))), window)).toBeUndefined();
  });
});
