import { describe, expect, test } from 'vitest';
import { watchMain } from '../../../src/core/look/memory.ts';
import type { MainProcess } from '../../../src/core/look/observation.ts';
import { entry, fileOf, seen, snapshot } from '../../support/builders.ts';

/** The memory after these looks. Each has its time and the matching pids. */
const known = (...looks: readonly (readonly [at: number, ...pids: number[]])[]): MainProcess | undefined =>
  looks.reduce<MainProcess | undefined>(
    (before, [at, ...pids]) =>
      watchMain(
        before,
        pids.map((pid) => ({ pid, startTime: '1' })),
        at,
      ),
    undefined,
  );

describe("main's process", () => {
  test('was not seen where only probes came and went', () => {
    expect(known([1_000, 7], [1_300, 8], [1_600, 9])?.seen).toBe(false);
  });

  test('is gone since the first look that no longer finds it, also beside a probe', () => {
    const looks = [
      [1_000, 7],
      [2_000, 7],
    ] as const;
    expect(known(...looks, [3_000, 8], [3_100])).toMatchObject({ seen: true, goneSince: 3_000 });
  });

  test('is back when another one lives for as long', () => {
    expect(known([1_000, 7], [2_000, 7], [3_000], [4_000, 8], [4_399, 8])?.goneSince).toBe(3_000);
    const back = [[1_000, 7], [2_000, 7], [3_000], [4_000, 8], [4_400, 8]] as const;
    expect(known(...back)).toMatchObject({ goneSince: undefined, longestGap: 1_400 });
    expect(known(...back, [5_000], [5_500, 9], [5_900, 9], [6_000])?.longestGap).toBe(1_400);
  });
});

test('the newest thousand of endless departed files are remembered', () => {
  const files = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const one = entry({ path: `/${from + index}`, inode: `${from + index}`, position: 1 });
      return [one, fileOf(one, 2)] as const;
    });
  const looks = [files(1, 700), files(1_001, 700), [], []].map((all, second) =>
    snapshot(second * 1_000, all),
  );
  const paths = [...seen(looks).memory.departed.values()].map(({ about }) => about);
  expect([paths.length, paths[0], paths.at(-1)]).toEqual([1_000, '/401', '/1700']);
});
