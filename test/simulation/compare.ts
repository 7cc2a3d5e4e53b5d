import { basename } from 'node:path';
import { play } from './lifetime.ts';
import { LINE_BYTES } from './lines.ts';
import { type Plan, planOf, type Settings } from './plan.ts';
import { playable } from './playable.ts';
import { type Ending, playForReal } from './real-run.ts';

/** A lifetime, in the model and on a real Fluentd. */
export interface Replayed {
  readonly plan: Plan;
  /** In words; none: both agree. */
  readonly differences: readonly string[];
}

export async function replay(seed: number, version: string): Promise<Replayed> {
  const plan = playable(planOf(seed), version.replace(/\.\d+$/, '') as Settings['version']);
  const model = await playInModel(plan);
  const real = await playForReal(plan, version);
  return { plan, differences: differencesOf(model, real) };
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
  // A gate's words count bytes, and those of the model's lines are others.
  return `${outcome.end}, ${outcome.drained}, ${outcome.gate === null ? 'no gate' : outcome.gate.name}`;
}
