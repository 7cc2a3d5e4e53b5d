import { describe, expect, test } from 'vitest';
import { replay } from '../simulation/compare.ts';
import { missingFluentd, NEWEST } from '../support/real-fluentd.ts';

/** Lifetimes of the simulation, played on Fluentd: writes, rotations, a done file, SIGTERM. `npm run replay` plays more. */
describe.skipIf(missingFluentd(NEWEST) !== undefined)('the simulation and Fluentd', () => {
  test.concurrent.each([9, 23])('deliver and tell the same in lifetime %i', async (seed) => {
    expect((await replay(seed, NEWEST)).differences).toEqual([]);
  });
});
