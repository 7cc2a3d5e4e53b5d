// Situations by chance, until one shows a wrong outcome: npm run attack -- --help
import { parseArgs } from 'node:util';
import type { Outcome } from '../../src/core/drain/outcome.ts';
import { Site } from '../support/delivery-site.ts';
import { NEWEST } from '../support/real-fluentd.ts';
import { play } from './play.ts';
import { randomSituation } from './random.ts';
import type { Deed, Situation } from './situation.ts';
import { roadOn } from './table.ts';

const USAGE = `npm run attack -- [options]
  --minutes N        (default 30)
  --fluentd VERSION  (default ${NEWEST})
  --from N           the first seed (default: by the clock)
Combines what the table of situations is made of, and plays it on real Fluentd. It stops at the first lost line that posidle calls
"drained", with the least deeds and settings that show it. Needless doubts are counted, and told with their seeds.`;
const JOBS = 3;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    fluentd: { type: 'string', default: NEWEST },
    from: { type: 'string', default: String(Math.floor(Date.now() / 1_000)) },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) console.log(USAGE);
else process.exitCode = (await attackAll()) ? 0 : 1;

/** `unplayed`: Fluentd refuses the set-up, say. */
type Verdict = 'false' | 'needless' | 'right' | 'unplayed';

async function attackAll(): Promise<boolean> {
  const end = performance.now() + Number(values.minutes) * 60_000;
  const verdicts: Verdict[] = [];
  let seed = Number(values.from);
  let fooled: Situation | undefined;
  const attacker = async () => {
    while (performance.now() < end && fooled === undefined) {
      const situation = randomSituation(seed++);
      const { verdict, told } = await judged(situation);
      verdicts.push(verdict);
      if (verdict !== 'right') console.log(`${situation.name} ${verdict}: ${told}`);
      if (verdict === 'false') fooled ??= situation;
    }
  };
  await Promise.all(Array.from({ length: JOBS }, attacker));
  const many = (what: Verdict) => verdicts.filter((verdict) => verdict === what).length;
  console.log(
    `Fluentd ${values.fluentd}: ${verdicts.length} situations, ${many('needless')} needless doubts, ${many('false')} false`,
  );
  if (fooled !== undefined) console.log(JSON.stringify(await shrunk(fooled), undefined, 2));
  return fooled === undefined;
}

interface Judged {
  readonly verdict: Verdict;
  readonly told: string;
}

async function judged(situation: Situation): Promise<Judged> {
  return await Site.use((site) => judgedIn(site, situation)).catch(({ message }: Error) => {
    const [last = ''] = message.trim().split('\n').slice(-1);
    return { verdict: 'unplayed', told: last };
  });
}

async function judgedIn(site: Site, situation: Situation): Promise<Judged> {
  const version = values.fluentd;
  const { lost, outcome } = await play(site, situation, { version, road: roadOn(version, situation) });
  const told = `lost ${lost} of ${site.lines.written}, ${namedIn(outcome)}`;
  return { verdict: verdictOn(lost, outcome), told };
}

function verdictOn(lost: number, outcome: Outcome): Verdict {
  if (lost > 0) return outcome.outcome === 'drained' ? 'false' : 'right';
  // A chunk may hold lines that were read twice.
  const isHeld = outcome.left.worst.some(({ kind }) => kind === 'held' || kind === 'given-up');
  return outcome.outcome === 'drained' || isHeld ? 'right' : 'needless';
}

function namedIn({ outcome, left, doubts }: Outcome): string {
  return `${outcome}: ${[...left.worst, ...doubts.worst].map((one) => `${one.kind} ${'why' in one ? one.why : ''}`).join('; ')}`;
}

/** The least deeds and settings that still show it, each tried twice: some things happen only now and then. */
async function shrunk(situation: Situation): Promise<Situation> {
  for (const smaller of smallerThan(situation)) if (await isFalse(smaller)) return await shrunk(smaller);
  return situation;
}

async function isFalse(situation: Situation): Promise<boolean> {
  for (let run = 0; run < 2; run += 1) {
    if ((await judged(situation)).verdict === 'false') return true;
  }
  return false;
}

function* smallerThan(situation: Situation): Generator<Situation> {
  const { deeds, setup = {} } = situation;
  const without = (gone: Deed) => deeds.filter((deed) => deed !== gone);
  for (const deed of deeds.toReversed()) yield { ...situation, deeds: without(deed) };
  for (const part of ['tail', 'buffer'] as const)
    for (const name of Object.keys(setup[part] ?? {})) {
      const { [name]: _, ...params } = setup[part] ?? {};
      yield { ...situation, setup: { ...setup, [part]: params } };
    }
}
