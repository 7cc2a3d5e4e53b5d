import { describe, expect, test } from 'vitest';
import { TARGETS, type Target } from './fuzz/targets.ts';
import { cpuSeconds } from './support/cpu-seconds.ts';
import { mutated, one, randomFrom } from './support/mutations.ts';

/** Anybody may write the parsed texts. None may end posidle, block it or exhaust its memory. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 200);
const SEED = Number(
  process.env.FUZZ_SEED ?? (process.env.CI === undefined ? Date.now() % 2 ** 31 : 20_261_121),
);
/** CPU time, which does not depend on other processes. A quarter of a MiB takes a hundredth of it. */
const MOST_SECONDS = 2;
const MOST_MIB = 512;
const LARGEST = 256 * 1024;

const WHAT: Readonly<Record<keyof typeof TARGETS, string>> = {
  pos: "pos file is read as by Fluentd's own pattern",
  conf: 'fluent.conf',
  command: 'command line',
  answer: 'answer of a witness, and its last report',
  proc: '/proc/PID/stat and cmdline',
  pattern: 'pattern is refused, or matches in linear time',
  names: 'name of a log file is found, and shown without harm',
  buffers: 'name of a chunk',
  http: 'request by HTTP is answered or cut off',
};

describe('a mutated', () => {
  test.each(Object.entries(WHAT))('%s: %s', { timeout: 60_000 + RUNS * 200 }, async (name) => {
    const { seeds, words, read }: Target = TARGETS[name as keyof typeof TARGETS];
    for (let run = 0; run < RUNS; run += 1) {
      const random = randomFrom(SEED + run);
      const bounds = { largest: LARGEST, ...(words && { words }) };
      const bytes = mutated(Buffer.from(one(seeds, random), 'latin1'), random, bounds);
      const before = process.memoryUsage().rss;
      try {
        const first = await cpuSeconds(() => read(bytes, random));
        // The garbage of a thousand texts may be collected meanwhile: slow is what is slow again.
        const seconds = first < MOST_SECONDS ? first : await cpuSeconds(() => read(bytes, random));
        expect(seconds, 'seconds of CPU').toBeLessThan(MOST_SECONDS);
        expect((process.memoryUsage().rss - before) / 2 ** 20, 'MiB').toBeLessThan(MOST_MIB);
      } catch (error) {
        const text = JSON.stringify(bytes.toString('latin1').slice(0, 2_000));
        throw new Error(`FUZZ_SEED=${SEED + run} FUZZ_RUNS=1: ${text}`, { cause: error });
      }
    }
  });
});
