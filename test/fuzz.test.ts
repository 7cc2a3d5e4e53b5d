import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mutated } from './fuzz/mutated.ts';
import { TARGETS, type Target } from './fuzz/targets.ts';
import { RUNS } from './support/arbitraries.ts';
import { cpuSeconds } from './support/cpu-seconds.ts';

/** Anybody may write the parsed texts. None may end posidle, block it or exhaust its memory. */
const numRuns = Number(process.env.FUZZ_RUNS ?? 100);
/** CPU time, which does not depend on other processes. A quarter of a MiB takes a hundredth of it. */
const MOST_SECONDS = 2;
const MOST_MIB = 512;

test.each(Object.entries<Target>(TARGETS))(
  'a mutated %s takes neither long nor much memory',
  { timeout: 60_000 + numRuns * 200 },
  async (_, { seeds, words, read }) => {
    const isHarmless = fc.asyncProperty(mutated(seeds, { words }), async (bytes) => {
      const before = process.memoryUsage().rss;
      const first = await cpuSeconds(() => read(bytes));
      // The garbage of a thousand texts may be collected meanwhile: slow is what is slow again.
      const seconds = first < MOST_SECONDS ? first : await cpuSeconds(() => read(bytes));
      expect(seconds, 'seconds of CPU').toBeLessThan(MOST_SECONDS);
      expect((process.memoryUsage().rss - before) / 2 ** 20, 'MiB').toBeLessThan(MOST_MIB);
    });
    await fc.assert(isHarmless, { numRuns, ...RUNS });
  },
);
