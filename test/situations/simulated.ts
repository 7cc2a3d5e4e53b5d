import { play } from '../simulation/lifetime.ts';
import { type Deed as Event, PLAIN, type Plan, type Settings } from '../simulation/plan.ts';
import type { Params } from '../support/fluentd-conf.ts';
import { BLIND_WAIT, type Deed, type Situation } from './situation.ts';
import { OF_ARGS, OF_BUFFER, OF_TAIL, settingsIn, type Words } from './words.ts';

/** When Fluentd is up, in the simulation. */
const UP = 3_000;

/** The situation as a plan of the simulation, or undefined if its model of Fluentd has not what the situation needs. */
export function planOf(situation: Situation): Plan | undefined {
  const settings = settingsOf(situation);
  if (settings === undefined) return undefined;
  const { deeds } = situation;
  const events: Event[] = deeds.some(([what]) => what === 'Fluentd starts')
    ? []
    : [{ at: 0, do: 'fluentd-starts' }];
  let at = UP;
  const trigger = { do: 'trigger', by: 'done-file' } as const;
  for (const [index, deed] of deeds.entries()) {
    // It is among the settings.
    if (deed[0] === 'each answer takes' && index === 0) continue;
    if (deed[0] === 'until') at += BLIND_WAIT * 1_000;
    else if (deed[0] === 'pause') at += deed[1] * 1_000;
    else if (deed[0] === 'main ends') events.push({ at, ...trigger });
    else {
      const event = eventOf(deed, deeds);
      if (event === undefined) return undefined;
      events.push({ at, ...event });
    }
    at += 1;
  }
  if (!events.some((event) => event.do === 'trigger')) events.push({ at, ...trigger });
  return { seed: 1, settings, deeds: events, horizon: at + 120_000 };
}

type Happening = Event extends infer One ? (One extends Event ? Omit<One, 'at'> : never) : never;

function eventOf(deed: Deed, all: readonly Deed[]): Happening | undefined {
  const path = (file: string) => `/logs/${file}`;
  switch (deed[0]) {
    case 'write': {
      // The model knows rotated files only by their rotation.
      const isKnown =
        deed[1].endsWith('.log') || all.some(([what, _, to]) => what === 'rename' && to === deed[1]);
      return isKnown ? { do: 'write', file: path(deed[1]), lines: deed[2] } : undefined;
    }
    case 'write unended':
      return { do: 'begin-line', file: path(deed[1]) };
    case 'rename':
      return deed[2] === `${deed[1]}.1` ? { do: 'rotate', file: path(deed[1]) } : undefined;
    case 'truncate':
      return { do: 'truncate', file: path(deed[1]) };
    case 'remove':
      return deed[1].endsWith('.1')
        ? { do: 'remove-rotated', file: path(deed[1].slice(0, -2)) }
        : { do: 'remove', file: path(deed[1]) };
    case 'destination':
      // The model tries both again, each time.
      return { do: 'destination', is: deed[1] === 'refusing' ? 'dead' : deed[1] };
    case 'signal':
      return HARMS[`${deed[2]} ${deed[1]}`];
    case 'Fluentd starts':
      return { do: 'fluentd-starts' };
    default:
      return undefined;
  }
}

const HARMS: Readonly<Record<string, Happening>> = {
  'SIGKILL worker': { do: 'worker-dies' },
  'SIGKILL supervisor': { do: 'supervisor-dies' },
  'SIGTERM supervisor': { do: 'fluentd-is-told' },
  'SIGUSR2 supervisor': { do: 'fluentd-restarts' },
};

/** They change nothing in the model. */
const PLAIN_IN_TAIL = ['path'];
const PLAIN_IN_BUFFER = ['@type', 'path', 'flush_mode', 'retry_wait', 'retry_max_interval'];

function settingsOf({ setup = {}, deeds, args = [], on, roads }: Situation): Settings | undefined {
  const { tail = {}, buffer = {}, ...others } = setup;
  const isKnown = (params: Params, names: readonly string[], words: Words) =>
    Object.keys(params).every((name) => names.includes(name) || name in words);
  if (Object.keys(others).length > 0) return undefined;
  if (!isKnown(tail, PLAIN_IN_TAIL, OF_TAIL) || !isKnown(buffer, PLAIN_IN_BUFFER, OF_BUFFER))
    return undefined;
  const options = args.flatMap((name, at) => (at % 2 === 0 ? [[name, args[at + 1] ?? '']] : []));
  const [first] = deeds;
  return {
    ...PLAIN,
    placement: roads === undefined || roads.includes('watch') ? 'watch' : 'run',
    version: on === 'newest' ? '1.20' : '1.18',
    ...(buffer['@type'] === 'file' && { buffer: 'file', flushAtShutdown: false }),
    ...(first?.[0] === 'each answer takes' && { sendTakes: first[1] }),
    ...settingsIn(tail, OF_TAIL),
    ...settingsIn(buffer, OF_BUFFER),
    ...settingsIn(Object.fromEntries(options), OF_ARGS),
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
