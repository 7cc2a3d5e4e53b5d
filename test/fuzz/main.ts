// Millions of mutated inputs: npm run fuzz:long -- --help
import { parseArgs } from 'node:util';
import { cpuSeconds } from '../support/cpu-seconds.ts';
import { mutated, one, randomFrom } from '../support/mutations.ts';
import { compare } from './compare.ts';
import { TARGETS, type Target } from './targets.ts';

const USAGE = `npm run fuzz:long -- [options]
  --target pos|conf  the reader of pos files, or that of fluent.conf (default pos)
  --runs N           mutated inputs (default 1,000,000)
  --seed N           of the first one; each has the next number (default: the time)
  --against VERSION  what this Fluentd's own reader makes of the configuration, compared`;

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: 'pos' },
    runs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    against: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** Most are small, and so quick that there can be millions of them. */
const SMALL = 2_048;
const LARGE = 256 * 1024;
const SELDOM = 1 / 2_000;
const MOST_SECONDS = 3;
const MOST_MIB = 1_024;
const TOLD = 100_000;

function inputOf({ seeds, words }: Target, seed: number): Buffer {
  const random = randomFrom(seed);
  const largest = random() < SELDOM ? LARGE : SMALL;
  return mutated(Buffer.from(one(seeds, random), 'latin1'), random, { largest, words });
}

async function fuzz(target: Target, { runs, seed: first }: { runs: number; seed: number }): Promise<void> {
  // Bytes that are no UTF-8 make an error each: a stack for it would take most of the time.
  Error.stackTraceLimit = 0;
  const began = performance.now();
  let [accepted, slowest, bytes] = [0, 0, 0];
  for (let run = 1; run <= runs; run += 1) {
    const seed = first + run - 1;
    const input = inputOf(target, seed);
    const from = performance.now();
    try {
      if (target.read(input)) accepted += 1;
    } catch (error) {
      const text = JSON.stringify(input.toString('latin1').slice(0, 2_000));
      throw new Error(`--seed ${seed} --runs 1: ${text}`, { cause: error });
    }
    slowest = Math.max(slowest, performance.now() - from);
    bytes += input.length;
    // A busy machine makes it wait: slow is what takes so much of a processor.
    if (performance.now() - from > 1_000 * MOST_SECONDS) {
      const seconds = await cpuSeconds(() => target.read(input));
      if (seconds > MOST_SECONDS) throw new Error(`--seed ${seed} --runs 1 took ${seconds} s of CPU`);
    }
    if (run % TOLD !== 0 && run < runs) continue;
    const memory = process.memoryUsage().rss / 2 ** 20;
    if (memory > MOST_MIB) throw new Error(`${memory} MiB of memory after seed ${seed}`);
    const rate = Math.round((1_000 * run) / (performance.now() - began));
    console.log(
      `${run} inputs (${Math.round(bytes / 2 ** 20)} MiB, seeds ${first} to ${seed}), ${accepted} accepted, no failure; slowest ${slowest.toFixed(0)} ms, ${memory.toFixed(0)} MiB of memory, ${rate} a second`,
    );
  }
}

async function main(): Promise<void> {
  const span = { runs: Number(values.runs), seed: Number(values.seed) };
  const target = values.target === 'conf' ? TARGETS.conf : TARGETS.pos;
  if (values.against === undefined) await fuzz(target, span);
  else process.exitCode = (await compare(values.against, span, console.log)) ? 0 : 1;
}

if (values.help) console.log(USAGE);
else await main();
