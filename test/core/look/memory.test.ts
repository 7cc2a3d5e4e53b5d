import { expect, test } from 'vitest';
import { entry, fileOf, seen, snapshot } from '../../support/builders.ts';

test('the newest thousand of endless departed files are remembered', () => {
  const files = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const one = entry({ path: `/${from + index}`, inode: `${from + index}`, position: 1 });
      return [one, fileOf(one, 2)] as const;
    });
  const looks = [files(1, 700), files(1_001, 700), [], []].map((all, second) =>
    snapshot(second * 1_000, all),
  );
  const paths = [...seen(looks).memory.departed.values()].map(({ path }) => path);
  expect([paths.length, paths[0], paths.at(-1)]).toEqual([1_000, '/401', '/1700']);
});
