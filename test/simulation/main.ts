// Simulated lifetimes: npm run simulate -- --help
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort } from 'node:worker_threads';
import { asRow } from '../situations/as-row.ts';
import { type Batch, type Played, playBatch } from './batch.ts';
import { Coverage } from './coverage.ts';
import { Crew } from './crew.ts';
import { play } from './lifetime.ts';
import { planOf } from './plan.ts';
import { describePlan, shrink } from './shrink.ts';

const USAGE = `npm run simulate -- [options]
  --seeds N      so many lifetimes (default 10,000)
  --from N       the first seed (default: by the clock)
  --seed N       this one lifetime, with its timeline
  --brief        in one thread, a line for the first failure, and nothing else
Tells each 10 s how far it is. Ctrl-C ends it early, with the summary. A lifetime that breaks a promise is made as small as
it can be, and written as a row of the table of situations.`;

const BATCH = 100;
const TELL_EVERY = 10_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '10000' },
      from: { type: 'string', default: String(Math.floor(Date.now() / 1_000) * 1_000) },
      seed: { type: 'string' },
      brief: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  if (values.seed !== undefined) return await tell(Number(values.seed));
  const run = new Run(Number(values.from), Number(values.seeds));
  process.once('SIGINT', () => run.end());
  const telling = setInterval(() => console.error(run.progress), TELL_EVERY);
  await run.play(values.brief ? 1 : availableParallelism());
  clearInterval(telling);
  if (!values.brief) {
    const { lines, missing } = run.coverage;
    for (const line of lines) console.log(line);
    console.log(`never reached: ${missing.length === 0 ? 'nothing' : missing.join(', ')}`);
  }
  console.log(run.progress);
  console.log(run.failure?.broken.split('\n')[0] ?? 'no promise was broken');
  if (run.failure === undefined) return;
  process.exitCode = 1;
  if (!values.brief) await tell(run.failure.seed);
}

/** Seeds that are played batch by batch, until all are, or a promise is broken. */
class Run {
  readonly coverage = new Coverage();
  /** From the smallest seed. */
  failure: Played['failures'][number] | undefined;
  readonly #from: number;
  readonly #began = performance.now();
  #next: number;
  #to: number;

  constructor(from: number, count: number) {
    this.#from = from;
    this.#next = from;
    this.#to = from + count;
  }

  end(): void {
    this.#to = this.#next;
  }

  async play(jobs: number): Promise<void> {
    const crew = new Crew(jobs, new URL(import.meta.url));
    await crew.play(
      () => this.#nextBatch(),
      ({ reached, failures: [first] }) => {
        this.coverage.addAll(reached);
        if (first === undefined) return;
        this.end();
        if (first.seed < (this.failure?.seed ?? Number.POSITIVE_INFINITY)) this.failure = first;
      },
    );
  }

  get progress(): string {
    const played = this.#next - this.#from;
    const pace = Math.round((1_000 * played) / (performance.now() - this.#began));
    return `seeds ${this.#from} to ${this.#next - 1}: ${played} lifetimes, ${pace} a second`;
  }

  #nextBatch(): Batch | undefined {
    if (this.#next >= this.#to) return undefined;
    const batch = { from: this.#next, count: Math.min(BATCH, this.#to - this.#next) };
    this.#next += batch.count;
    return batch;
  }
}

/** The shrunk plan of a seed, and what happens in it. */
async function tell(seed: number): Promise<void> {
  const plan = planOf(seed);
  const { broken } = await play(plan);
  const smallest = broken === undefined ? plan : await shrink(plan, broken);
  const played = await play(smallest, true);
  console.log(`seed ${seed}${broken === undefined ? '' : ', shrunk'}: ${describePlan(smallest)}`);
  for (const line of played.timeline) console.log(line);
  console.log(played.broken ?? 'no promise was broken');
  if (played.broken !== undefined) console.log(await asRow(smallest, played.broken));
}

if (isMainThread) await main();
else parentPort?.on('message', async (batch: Batch) => parentPort?.postMessage(await playBatch(batch)));
