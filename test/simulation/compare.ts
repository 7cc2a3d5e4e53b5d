import { basename } from 'node:path';
import { play } from './lifetime.ts';
import { LINE_BYTES } from './log-files.ts';
import { type Deed, type Plan, planOf, type Settings } from './plan.ts';
import { playable, UP } from './playable.ts';
import { Random } from './random.ts';
import { type Ending, playForReal } from './real-run.ts';

/** A lifetime, in the model and on a real Fluentd. */
export interface Replayed {
  readonly plan: Plan;
  /** In words; none: both agree. */
  readonly differences: readonly string[];
  /** How often the model was played until both agreed. */
  readonly plays: number;
}

const MOST_PLAYS = 400;

/**
 * What in_tail finds of a file that is renamed or removed young, is a matter of a second. Where both differ, the model is played
 * again with Fluentd and posidle begun at other moments: the real ending has to be one of those.
 */
export async function replay(seed: number, version: string): Promise<Replayed> {
  const plan = playable(planOf(seed), version.replace(/\.\d+$/, '') as Settings['version']);
  const real = await playForReal(plan, version);
  const differences = differencesOf(await playInModel(plan), real);
  if (differences.length === 0) return { plan, differences, plays: 1 };
  for (let plays = 2; plays <= MOST_PLAYS; plays += 1) {
    const model = await playInModel(atAnotherMoment(plan, plays));
    if (differencesOf(model, real).length === 0) return { plan, differences: [], plays };
  }
  return { plan, differences, plays: MOST_PLAYS };
}

/** in_tail looks at its files each second from its start on, and posidle from its own. */
function atAnotherMoment(plan: Plan, seed: number): Plan {
  const random = new Random(plan.seed + 7_919 * seed);
  const ofPosidle = random.between(0, 1_000);
  let late = 0;
  const deeds = plan.deeds.map((deed) => {
    if (deed.do === 'fluentd-starts') return deed;
    // A busy machine does nothing at the instant.
    late = Math.max(0, late - 20) + random.between(0, 40);
    return { ...deed, at: deed.at + ofPosidle + late };
  });
  // Main begins when posidle is up, which takes it a few hundred milliseconds after Fluentd.
  const startTakes = random.between(100, UP - 100 + ofPosidle);
  return { ...plan, seed, deeds: inOrder(deeds), settings: { ...plan.settings, startTakes } };
}

/** None overtakes the one before it. */
function inOrder(deeds: readonly Deed[]): readonly Deed[] {
  let last = 0;
  return deeds.map((deed) => {
    last = Math.max(last, deed.at);
    return { ...deed, at: last };
  });
}

async function playInModel(plan: Plan): Promise<Ending> {
  const { outcome, broken, world } = await play(plan);
  if (broken !== undefined) throw new Error(`seed ${plan.seed}: ${broken}`);
  const delivered = world.lines.all.flatMap(({ fate }, id) => (fate === 'delivered' ? [id] : []));
  const read = world.posFile.lines.flatMap(({ path, position }) =>
    position === null ? [] : [[basename(path), position / LINE_BYTES] as const],
  );
  return { delivered: new Set(delivered), read: new Map(read), outcome };
}

function differencesOf(model: Ending, real: Ending): readonly string[] {
  return [
    ...differenceIn('delivered', listOf(model.delivered), listOf(real.delivered)),
    ...differenceIn('read', textOf(model.read), textOf(real.read)),
    ...differenceIn('outcome', outcomeOf(model), outcomeOf(real)),
  ];
}

function differenceIn(what: string, model: string, real: string): readonly string[] {
  return model === real ? [] : [`${what}: ${model} in the model, ${real} on Fluentd`];
}

/** `0-4, 7-9`. */
function listOf(ids: ReadonlySet<number>): string {
  const spans: [number, number][] = [];
  for (const id of [...ids].sort((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last !== undefined && last[1] === id - 1) last[1] = id;
    else spans.push([id, id]);
  }
  return spans.length === 0 ? 'none' : spans.map(([from, to]) => `${from}-${to}`).join(', ');
}

function textOf(read: ReadonlyMap<string, number>): string {
  const files = [...read].sort(([a], [b]) => (a < b ? -1 : 1));
  return files.length === 0 ? 'nothing' : files.map(([name, lines]) => `${name} ${lines}`).join(', ');
}

function outcomeOf({ outcome }: Ending): string {
  if (outcome === undefined) return 'none';
  const { end, outcome: drained, left, doubts } = outcome;
  const kinds = [...left.worst, ...doubts.worst].map(({ kind }) => kind);
  return [end, drained, ...[...new Set(kinds)].sort()].join(', ');
}
