import { play } from '../simulation/lifetime.ts';
import { type Deed as Event, PLAIN, type Plan, type Settings } from '../simulation/plan.ts';
import type { Params } from '../support/fluentd-conf.ts';
import { BLIND_WAIT } from './main.ts';
import type { Deed, Setup, Situation } from './situation.ts';

/** When Fluentd is up, in the simulation. */
const UP = 3_000;

/** The situation as a plan of the simulation, or undefined if its model of Fluentd has not what the situation needs. */
export function planOf({ setup = {}, deeds }: Situation): Plan | undefined {
  const settings = settingsOf(setup);
  if (settings === undefined) return undefined;
  const events: Event[] = deeds.some(([what]) => what === 'Fluentd starts')
    ? []
    : [{ at: 0, do: 'fluentd-starts' }];
  let at = UP;
  const trigger = { do: 'trigger', by: 'done-file' } as const;
  for (const deed of deeds) {
    if (deed[0] === 'until') at += BLIND_WAIT * 1_000;
    else if (deed[0] === 'pause') at += deed[1] * 1_000;
    else if (deed[0] === 'main ends') events.push({ at, ...trigger });
    else {
      const event = eventOf(deed);
      if (event === undefined) return undefined;
      events.push({ at, ...event });
    }
    at += 1;
  }
  if (!events.some((event) => event.do === 'trigger')) events.push({ at, ...trigger });
  return { seed: 1, settings, deeds: events, horizon: at + 120_000 };
}

type Happening = Event extends infer One ? (One extends Event ? Omit<One, 'at'> : never) : never;

function eventOf(deed: Deed): Happening | undefined {
  const path = (file: string) => `/logs/${file}`;
  switch (deed[0]) {
    case 'write':
      // The model knows rotated files only by their rotation.
      return deed[1].endsWith('.log') ? { do: 'write', file: path(deed[1]), lines: deed[2] } : undefined;
    case 'write unended':
      return { do: 'begin-line', file: path(deed[1]) };
    case 'rename':
      return deed[2] === `${deed[1]}.1` ? { do: 'rotate', file: path(deed[1]) } : undefined;
    case 'truncate':
    case 'remove':
      return { do: deed[0], file: path(deed[1]) };
    case 'destination':
      if (deed[1] === 'rejecting') return undefined;
      return { do: 'destination', is: deed[1] === 'up' ? 'up' : 'down' };
    case 'signal':
      return deed[1] === 'worker' && deed[2] === 'SIGKILL' ? { do: 'worker-dies' } : undefined;
    case 'Fluentd starts':
      return { do: 'fluentd-starts' };
    default:
      return undefined;
  }
}

const KNOWN_TO_TAIL = ['path', 'refresh_interval', 'rotate_wait'];
const KNOWN_TO_BUFFER = [
  '@type',
  'path',
  'flush_interval',
  'flush_mode',
  'retry_wait',
  'retry_max_interval',
  'retry_max_times',
];

function settingsOf({ tail = {}, buffer = {}, ...others }: Setup): Settings | undefined {
  const isKnown = (params: Params, names: readonly string[]) =>
    Object.keys(params).every((name) => names.includes(name));
  if (Object.keys(others).length > 0) return undefined;
  if (!isKnown(tail, KNOWN_TO_TAIL) || !isKnown(buffer, KNOWN_TO_BUFFER)) return undefined;
  const millis = (value: Params[string] | undefined, usual: number) =>
    value === undefined ? usual : Number.parseFloat(String(value)) * 1_000;
  return {
    ...PLAIN,
    refreshInterval: millis(tail['refresh_interval'], 1_000),
    rotateWait: millis(tail['rotate_wait'], 5_000),
    buffer: buffer['@type'] === 'file' ? 'file' : 'memory',
    flushInterval: millis(buffer['flush_interval'], 1_000),
    flushAtShutdown: buffer['@type'] !== 'file',
    retryMaxTimes: Number(buffer['retry_max_times'] ?? 0),
    batch: 1_000,
    totalLimit: 1_000_000,
    chunkLimit: 100_000,
  };
}

/** What is not as the situation says, when the simulation plays it. Its own promises are held as well. */
export async function simulate(situation: Situation, plan: Plan): Promise<readonly string[]> {
  const { outcome, broken, world } = await play(plan);
  if (broken !== undefined || outcome === undefined) return [broken ?? 'it has no outcome'];
  const lost = world.lines.all.filter(({ fate }) => fate !== 'delivered').length;
  const { outcome: expected = 'drained', told = '' } = situation;
  const named = JSON.stringify([outcome.left.worst, outcome.doubts.worst]);
  const isEither = expected === 'drained or told';
  return [
    ...(!isEither && outcome.outcome !== expected ? [`it says ${outcome.outcome}, not ${expected}`] : []),
    ...(lost > 0 && outcome.outcome === 'drained' ? [`"drained", and ${lost} lines are lost`] : []),
    ...(outcome.outcome !== 'drained' && !named.includes(told) ? [`it does not say ${told}: ${named}`] : []),
  ];
}
