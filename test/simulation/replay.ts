// Holds the model against real Fluentd: npm run replay -- --help
import { parseArgs } from 'node:util';
import { TESTED_VERSIONS } from '../support/real-fluentd.ts';
import { type Replayed, replay } from './compare.ts';
import { describePlan } from './shrink.ts';

const USAGE = `npm run replay -- [options]
  --seeds N         so many lifetimes (default 10)
  --from N          the first seed (default 1)
On each Fluentd that is tested, four at a time.`;
const JOBS = 4;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    from: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) console.log(USAGE);
else process.exitCode = (await replayAll()) ? 0 : 1;

async function replayAll(): Promise<boolean> {
  const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => Number(values.from) + index);
  const agreed = new Map<string, number[]>(TESTED_VERSIONS.map((version) => [version, []]));
  const left = seeds.flatMap((seed) => TESTED_VERSIONS.map((version) => ({ seed, version })));
  const player = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { seed, version } = next;
      const told = await replay(seed, version).catch((error: Error) => error);
      const differences = told instanceof Error ? [told.message] : told.differences;
      if (!(told instanceof Error) && differences.length === 0) agreed.get(version)?.push(told.plays);
      else tell(seed, version, told, differences);
    }
  };
  await Promise.all(Array.from({ length: JOBS }, player));
  for (const [version, plays] of agreed) {
    const atOnce = plays.filter((count) => count === 1).length;
    console.log(`${version}: ${plays.length} of ${seeds.length} lifetimes agree, ${atOnce} of them at once`);
  }
  return [...agreed.values()].every((plays) => plays.length === seeds.length);
}

function tell(seed: number, version: string, told: Replayed | Error, differences: readonly string[]): void {
  console.log(`seed ${seed} on ${version}: ${told instanceof Error ? '' : describePlan(told.plan)}`);
  for (const difference of differences) console.log(`  ${difference}`);
}
