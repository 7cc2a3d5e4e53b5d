import { expect, test } from 'vitest';
import { Coverage } from './coverage.ts';
import { play } from './lifetime.ts';
import { planOf } from './plan.ts';

test('no promise is broken in a hundred simulated lifetimes', async () => {
  const coverage = new Coverage();
  const broken: string[] = [];
  for (let seed = 1; seed <= 100; seed += 1) {
    const played = await play(planOf(seed), false, coverage);
    if (played.broken !== undefined) broken.push(`npm run simulate -- --seed ${seed}: ${played.broken}`);
  }
  expect(broken).toEqual([]);
  expect(coverage.missing).toEqual([]);
}, 300_000);
