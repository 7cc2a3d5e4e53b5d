import { describe, expect, test } from 'vitest';
import { sorted } from '../../../src/node/files/names.ts';

describe('paths in order', () => {
  test.each([0, 1, 2, 1_024, 1_025, 5_000])('are the same as sorted at once: %i of them', async (count) => {
    const paths = shuffled(count);
    expect(await sorted(paths)).toEqual([...paths].sort());
  });

  test('keep those that are there twice', async () => {
    expect(await sorted(['b', 'a', 'b', '', 'é', 'a'])).toEqual(['', 'a', 'a', 'b', 'b', 'é']);
  });

  test('let other things happen meanwhile where there are very many', async () => {
    let isOver = false;
    const turns = countTurns(() => isOver);
    await sorted(shuffled(100_000));
    isOver = true;
    expect(await turns).toBeGreaterThan(3);
  });
});

/** Each number once, and in no order: 7,919 is a prime. */
function shuffled(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `/var/log/app/${(index * 7_919) % count}.log`);
}

function countTurns(isOver: () => boolean, turns = 0): Promise<number> {
  return new Promise((resolve) => {
    setImmediate(() => resolve(isOver() ? turns : countTurns(isOver, turns + 1)));
  });
}
