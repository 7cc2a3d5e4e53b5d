import { expect, test } from 'vitest';
import { planOf, simulate } from './simulated.ts';
import { SITUATIONS } from './table.ts';

const PLAYABLE = SITUATIONS.flatMap((situation) => {
  const plan = planOf(situation);
  return plan === undefined ? [] : [{ name: situation.name, situation, plan }];
});

test.each(PLAYABLE)(
  'the simulation plays $name with the outcome of the table',
  async ({ situation, plan }) => {
    expect(await simulate(situation, plan)).toEqual([]);
  },
);
