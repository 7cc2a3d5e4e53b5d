// Simulated lifetimes: npm run simulate -- --help
import { parseArgs } from 'node:util';
import { Coverage } from './coverage.ts';
import { play } from './lifetime.ts';
import { planOf } from './plan.ts';
import { describePlan, shrink } from './shrink.ts';

const USAGE = `npm run simulate -- [options]
  --seeds N      so many lifetimes (default 10,000)
  --seconds N    as many lifetimes as fit into so many seconds instead
  --from N       the first seed (default: by the clock)
  --seed N       this one lifetime, with its timeline
  --brief        a line for the first failure, and nothing else
  --keep-going   do not end at the first failure; count the kinds of failures`;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    seconds: { type: 'string' },
    from: { type: 'string' },
    seed: { type: 'string' },
    brief: { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

async function main(): Promise<void> {
  if (values.seed !== undefined) return await tell(Number(values.seed));
  const from = values.from === undefined ? Math.floor(Date.now() / 1_000) * 1_000 : Number(values.from);
  const began = performance.now();
  const most = values.seconds === undefined ? Number(values.seeds) : Number.POSITIVE_INFINITY;
  const until =
    values.seconds === undefined ? Number.POSITIVE_INFINITY : began + Number(values.seconds) * 1_000;
  const coverage = new Coverage();
  const failures = new Map<string, number[]>();
  let seed = from;
  for (; seed < from + most && performance.now() < until; seed += 1) {
    const { broken } = await play(planOf(seed), false, coverage);
    if (broken === undefined) continue;
    const kind = broken.split('\n')[0]?.replace(/\d+/g, 'N') ?? '';
    failures.set(kind, [...(failures.get(kind) ?? []), seed]);
    if (!values['keep-going']) break;
  }
  const played = seed - from + (failures.size > 0 && !values['keep-going'] ? 1 : 0);
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage();
  const perSecond = (of: number) => Math.round(played / of);
  if (!values.brief) for (const line of coverage.lines) console.log(line);
  console.log(
    `seeds ${from} to ${from + played - 1}: ${played} lifetimes, ${perSecond(seconds)} a second, ${perSecond((user + system) / 1_000_000)} a second of CPU`,
  );
  for (const [kind, seeds] of failures)
    console.log(`${seeds.length} × ${kind}: ${seeds.slice(0, 8).join(', ')}`);
  const [first] = failures.values();
  if (first?.[0] === undefined) return console.log('no promise was broken');
  process.exitCode = 1;
  if (!values['keep-going'] && !values.brief) await tell(first[0]);
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

if (values.help) console.log(USAGE);
else await main();
