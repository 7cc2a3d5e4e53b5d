import { describe, expect, test } from 'vitest';
import { replay } from '../simulation/compare.ts';
import { skipFor } from '../support/needs.ts';
import { missingFluentd, NEWEST } from '../support/real-fluentd.ts';

/**
 * Lifetimes of the simulation, played on Fluentd with its witness: writes, a rotation, a destination that is away, a done file, SIGTERM. In them nothing depends on
 * a second: a busy machine rotates a young file before in_tail has found it. `npm run replay` plays more.
 */
describe('the simulation and Fluentd', () => {
  skipFor(missingFluentd(NEWEST));
  test.concurrent.each([31, 38])('deliver and tell the same in lifetime %i', async (seed) => {
    expect((await replay(seed, NEWEST)).differences).toEqual([]);
  });
});
