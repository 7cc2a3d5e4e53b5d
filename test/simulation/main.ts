// Simulated lifetimes: npm run simulate -- --help
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort } from 'node:worker_threads';
import { type Batch, type Played, playBatch } from './batch.ts';
import { Coverage } from './coverage.ts';
import { Crew } from './crew.ts';
import { play } from './lifetime.ts';
import { planOf } from './plan.ts';
import { describePlan, shrink } from './shrink.ts';

const USAGE = `npm run simulate -- [options]
  --seeds N      so many lifetimes (default 10,000)
  --seconds N    as many lifetimes as fit into so many seconds instead
  --from N       the first seed (default: by the clock)
  --jobs N       in so many threads (default: one a core)
  --seed N       this one lifetime, with its timeline
  --brief        a line for the first failure, and nothing else
  --keep-going   do not end at the first failure; count the kinds of failures
Tells each 10 s how far it is. Ctrl-C ends it early, with the summary.`;

const BATCH = 100;
const TELL_EVERY = 10_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '10000' },
      seconds: { type: 'string' },
      from: { type: 'string' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      seed: { type: 'string' },
      brief: { type: 'boolean', default: false },
      'keep-going': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  if (values.seed !== undefined) return await tell(Number(values.seed));
  const from = values.from === undefined ? Math.floor(Date.now() / 1_000) * 1_000 : Number(values.from);
  const to = values.seconds === undefined ? from + Number(values.seeds) : Number.POSITIVE_INFINITY;
  const run = new Run({
    from,
    to,
    seconds: Number(values.seconds ?? Infinity),
    keepsGoing: values['keep-going'],
  });
  process.once('SIGINT', () => run.end());
  const telling = setInterval(() => console.error(run.progress), TELL_EVERY);
  await run.play(Number(values.jobs));
  clearInterval(telling);
  if (!values.brief) for (const line of run.coverage.lines) console.log(line);
  const { missing } = run.coverage;
  if (!values.brief) console.log(`never reached: ${missing.length === 0 ? 'nothing' : missing.join(', ')}`);
  for (const line of run.summary) console.log(line);
  const [first] = run.failures;
  if (first === undefined) return;
  process.exitCode = 1;
  if (!values['keep-going'] && !values.brief) await tell(first.seed);
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
  readonly keepsGoing: boolean;
}

/** Seeds that are played batch by batch, until all are, or time is up, or a promise is broken. */
class Run {
  readonly coverage = new Coverage();
  readonly #span: Span;
  readonly #began = performance.now();
  #failures: readonly Played['failures'][number][] = [];
  #next: number;
  #isEnded = false;

  constructor(span: Span) {
    this.#span = span;
    this.#next = span.from;
  }

  get failures(): Played['failures'] {
    return this.#failures.toSorted((a, b) => a.seed - b.seed);
  }

  end(): void {
    this.#isEnded = true;
  }

  async play(jobs: number): Promise<void> {
    const crew = new Crew(jobs, new URL(import.meta.url));
    await crew.play(
      () => this.#nextBatch(),
      ({ reached, failures }) => {
        this.coverage.addAll(reached);
        this.#failures = [...this.#failures, ...failures];
      },
    );
  }

  get summary(): readonly string[] {
    return [this.progress, ...this.#kinds()];
  }

  get progress(): string {
    const { from } = this.#span;
    const played = this.#next - from;
    const { user, system } = process.cpuUsage();
    const perSecond = (of: number) => Math.round(played / of);
    const pace = `${perSecond(this.#seconds)} a second, ${perSecond((user + system) / 1_000_000)} a second of CPU`;
    const broken = [`${this.#failures.length} broken`, ...this.#failures.slice(-3).map(({ seed }) => seed)];
    return `seeds ${from} to ${this.#next - 1}: ${played} lifetimes, ${pace}, ${broken.join(' ')}`;
  }

  get #seconds(): number {
    return (performance.now() - this.#began) / 1_000;
  }

  #kinds(): readonly string[] {
    const seeds = new Map<string, number[]>();
    for (const { seed, broken } of this.failures) {
      const kind = broken.split('\n')[0]?.replace(/\d+/g, 'N') ?? '';
      seeds.set(kind, [...(seeds.get(kind) ?? []), seed]);
    }
    if (seeds.size === 0) return ['no promise was broken'];
    return [...seeds].map(([kind, of]) => `${of.length} × ${kind}: ${of.slice(0, 8).join(', ')}`);
  }

  #nextBatch(): Batch | undefined {
    const { to, seconds, keepsGoing } = this.#span;
    const isOver =
      this.#isEnded ||
      this.#next >= to ||
      this.#seconds >= seconds ||
      (this.#failures.length > 0 && !keepsGoing);
    if (isOver) return undefined;
    const batch = { from: this.#next, count: Math.min(BATCH, to - this.#next) };
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
}

if (isMainThread) await main();
else parentPort?.on('message', async (batch: Batch) => parentPort?.postMessage(await playBatch(batch)));
