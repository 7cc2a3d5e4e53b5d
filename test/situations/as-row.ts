import { type Deed as Event, PLAIN, type Plan, type Settings } from '../simulation/plan.ts';
import { breaks } from '../simulation/shrink.ts';
import type { Params } from '../support/fluentd-conf.ts';
import { ON_DISK } from './sections.ts';
import { planOf } from './simulated.ts';
import type { Deed, Setup, Situation } from './situation.ts';
import { OF_ARGS, OF_BUFFER, OF_TAIL, paramsFor } from './words.ts';

/** A lifetime that breaks a promise, as a row of the table that breaks it in the simulation too; or why there is none. */
export async function asRow(plan: Plan, broken: string): Promise<string> {
  const row = situationOf(plan, broken);
  const again = planOf(row);
  if (again !== undefined && (await breaks(again, broken)))
    return `a row of test/situations/table/, with \`since\` to be filled in:\n${JSON.stringify(row, undefined, 2)}`;
  return `No situation shows it: none can say ${unsaid(plan, again).join(', ') || 'the very times'}.`;
}

/** As far as a situation can say it. */
function situationOf({ seed, settings, deeds }: Plan, broken: string): Situation {
  const isOnDisk = settings.buffer === 'file';
  const usual = { ...PLAIN, flushAtShutdown: !isOnDisk };
  const args = Object.entries(paramsFor(settings, usual, OF_ARGS))
    .flat()
    .map(String);
  return {
    name: `seed-${seed}`,
    what: broken.split('\n')[0] ?? '',
    setup: {
      ...unlessEmpty('tail', paramsFor(settings, usual, OF_TAIL)),
      ...unlessEmpty('buffer', { ...(isOnDisk && ON_DISK), ...paramsFor(settings, usual, OF_BUFFER) }),
    },
    deeds: [...answersIn(settings), ...deedsOf(deeds)],
    // A needless doubt is one where nothing is lost.
    ...(!broken.startsWith('all was delivered') && { outcome: 'drained or told' }),
    ...(args.length > 0 && { args }),
    ...(settings.version === '1.20' && { on: 'newest' }),
    ...(settings.placement === 'run' && { roads: ['run'] }),
    since: '',
  };
}

const unlessEmpty = (name: 'tail' | 'buffer', params: Params): Setup =>
  Object.keys(params).length === 0 ? {} : { [name]: params };

function answersIn({ sendTakes }: Settings): readonly Deed[] {
  return sendTakes === PLAIN.sendTakes ? [] : [['each answer takes', sendTakes]];
}

/** With a pause for each time between two of them: each takes a millisecond. */
function deedsOf(events: readonly Event[]): readonly Deed[] {
  return events.flatMap((event, index) => {
    const pause = event.at - (events[index - 1]?.at ?? event.at) - 2;
    return [...(pause > 0 ? [['pause', pause / 1_000] as const] : []), ...deedsFor(event)];
  });
}

/** None where a situation has no word for it. */
function deedsFor(event: Event): readonly Deed[] {
  const file = 'file' in event ? event.file.replace('/logs/', '') : '';
  switch (event.do) {
    case 'write':
      return [['write', file, event.lines]];
    case 'begin-line':
      return [['write unended', file]];
    case 'rotate':
      return [['rename', file, `${file}.1`]];
    case 'truncate':
    case 'remove':
      return [[event.do, file]];
    case 'remove-rotated':
      return [['remove', `${file}.1`]];
    case 'destination':
      return [['destination', event.is]];
    case 'worker-dies':
      return [['signal', 'worker', 'SIGKILL']];
    case 'supervisor-dies':
      return [['signal', 'supervisor', 'SIGKILL']];
    case 'fluentd-is-told':
      return [['signal', 'supervisor', 'SIGTERM']];
    case 'fluentd-restarts':
      return [['signal', 'supervisor', 'SIGUSR2']];
    case 'fluentd-starts':
      return [['Fluentd starts']];
    case 'trigger':
      return [['main ends']];
    default:
      return [];
  }
}

/** What the plan has, and the row's has not. */
function unsaid({ settings, deeds }: Plan, again: Plan | undefined): readonly string[] {
  const names = Object.keys(settings) as (keyof Settings)[];
  const others = names.filter((name) => settings[name] !== again?.settings[name]);
  return [
    ...others.map((name) => `"${name} ${settings[name]}"`),
    ...deeds.filter((event) => deedsFor(event).length === 0).map((event) => `"${event.do}"`),
  ];
}
