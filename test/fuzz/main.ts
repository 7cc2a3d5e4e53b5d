// Mutated inputs to every port of entry: npm run fuzz:long -- --help
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { keepHeapSmall } from '../../src/commands/heap.ts';
import { cpuSeconds } from '../support/cpu-seconds.ts';
import { limitMemory } from '../support/memory-limit.ts';
import { mutated, one, randomFrom } from '../support/mutations.ts';
import { compare } from './compare.ts';
import { TARGETS, type Target } from './targets.ts';

const NAMES = Object.keys(TARGETS) as (keyof typeof TARGETS)[];
const USAGE = `npm run fuzz:long -- [options]
  --target NAME      one of ${NAMES.join(', ')} (default: each, in a process of its own, within 128 MiB)
  --runs N           mutated inputs (default 10,000)
  --seed N           of the first one; each has the next number (default: the time)
  --against VERSION  what this Fluentd's own reader makes of the configuration, compared`;

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    runs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    against: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** Most are small, and so quick that there can be millions of them. */
const SMALL = 2_048;
const LARGE = 256 * 1024;
const SELDOM = 1 / 2_000;
const MOST_SECONDS = 2;
/** The memory that the daemon may take, of 128 MiB. */
const MOST_MIB = 110;
const LIMIT_MIB = 128;
const TOLD = 100_000;

function inputOf({ seeds, words }: Target, seed: number): Buffer {
  const random = randomFrom(seed);
  const largest = random() < SELDOM ? LARGE : SMALL;
  const bounds = { largest, ...(words && { words }) };
  return mutated(Buffer.from(one(seeds, random), 'latin1'), random, bounds);
}

async function fuzz(name: string, target: Target, { runs, seed: first }: Span): Promise<void> {
  // Bytes that are no UTF-8 make an error each: a stack for it would take most of the time.
  Error.stackTraceLimit = 0;
  const began = performance.now();
  let [accepted, slowest, bytes] = [0, 0, 0];
  for (let run = 1; run <= runs; run += 1) {
    const seed = first + run - 1;
    const input = inputOf(target, seed);
    const from = performance.now();
    try {
      if ((await target.read(input, randomFrom(seed))) !== false) accepted += 1;
    } catch (error) {
      const text = JSON.stringify(input.toString('latin1').slice(0, 2_000));
      throw new Error(`--target ${name} --seed ${seed} --runs 1: ${text}`, { cause: error });
    }
    const seconds = (performance.now() - from) / 1_000;
    slowest = Math.max(slowest, seconds);
    bytes += input.length;
    // A busy machine makes it wait: slow is what takes so much of a processor.
    const own = seconds > MOST_SECONDS ? await cpuSeconds(() => target.read(input, randomFrom(seed))) : 0;
    if (own > MOST_SECONDS) throw new Error(`--target ${name} --seed ${seed} --runs 1 took ${own} s of CPU`);
    const peak = process.resourceUsage().maxRSS / 1024;
    if (peak > MOST_MIB) throw new Error(`--target ${name}: ${peak} MiB of memory after seed ${seed}`);
    if (run % TOLD !== 0 && run < runs) continue;
    const rate = Math.round((1_000 * run) / (performance.now() - began));
    console.log(
      `${name}: ${run} inputs (${Math.round(bytes / 2 ** 20)} MiB, seeds ${first} to ${seed}), ${accepted} accepted, no failure; slowest ${Math.round(1_000 * slowest)} ms, at most ${peak.toFixed(0)} MiB of memory, ${rate} a second`,
    );
  }
}

/** Each target in a process of its own, with a container's memory limit where one can be made; gives whether all went well. */
async function fuzzEach({ runs, seed }: Span): Promise<boolean> {
  let isWell = true;
  for (const name of NAMES) {
    const limit = limitMemory(LIMIT_MIB);
    const words = ['--target', name, '--runs', String(runs), '--seed', String(seed)];
    const own = [process.execPath, fileURLToPath(import.meta.url), ...words];
    const [command = '', ...rest] = [...(limit?.wrapper ?? []), ...own];
    const { status, signal } = spawnSync(command, rest, { stdio: 'inherit' });
    await limit?.remove();
    if (status !== 0) console.log(`${name}: failed (${signal ?? status}), seed ${seed}`);
    isWell &&= status === 0;
  }
  return isWell;
}

interface Span {
  readonly runs: number;
  readonly seed: number;
}

async function main(): Promise<boolean> {
  const span = { runs: Number(values.runs), seed: Number(values.seed) };
  if (values.against !== undefined) return await compare(values.against, span, console.log);
  const name = NAMES.find((one) => one === values.target);
  if (name === undefined) return await fuzzEach(span);
  keepHeapSmall();
  await fuzz(name, TARGETS[name], span);
  return true;
}

if (values.help) console.log(USAGE);
else process.exit((await main()) ? 0 : 1);
