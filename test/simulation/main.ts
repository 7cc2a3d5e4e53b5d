// Simulated lifetimes: npm run simulate -- --help
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { asRow } from '../situations/as-row.ts';
import { Coverage } from './coverage.ts';
import { play } from './lifetime.ts';
import { planOf } from './plan.ts';
import { describePlan, shrink } from './shrink.ts';

const USAGE = `npm run simulate -- [options]
  --seeds N      so many lifetimes (default 10,000)
  --from N       the first seed (default: by the clock)
  --seed N       this one lifetime, with its timeline
  --brief        a line for the first failure, and nothing else
Tells each 10 s how far it is. Ctrl-C ends it early, with the summary. A lifetime that breaks a promise is made as small as
it can be, and written as a row of the table of situations.`;

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
  const coverage = new Coverage();
  const [from, to] = [Number(values.from), Number(values.from) + Number(values.seeds)];
  const began = performance.now();
  let [seed, toldAt, isOver] = [from, began, false];
  let broken: string | undefined;
  const progress = () =>
    `seeds ${from} to ${seed - 1}: ${Math.round((1_000 * (seed - from)) / (performance.now() - began))} lifetimes a second`;
  process.once('SIGINT', () => {
    isOver = true;
  });
  for (; seed < to && broken === undefined && !isOver; seed += 1) {
    ({ broken } = await play(planOf(seed), false, coverage));
    if (performance.now() - toldAt > TELL_EVERY) {
      console.error(progress());
      toldAt = performance.now();
    }
    // Lets a signal in.
    await nextTurn();
  }
  if (!values.brief) {
    for (const line of coverage.lines) console.log(line);
    const { missing } = coverage;
    console.log(`never reached: ${missing.length === 0 ? 'nothing' : missing.join(', ')}`);
  }
  console.log(progress());
  console.log(broken?.split('\n')[0] ?? 'no promise was broken');
  if (broken === undefined) return;
  process.exitCode = 1;
  if (!values.brief) await tell(seed - 1);
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

await main();
