import type { InferredOptionTypes, Options } from 'yargs';
import { SORT_KEYS } from '../../core/inspect/order.ts';
import { durationOf, intervalOf, nonEmpty, optional, size, states } from './coercions.ts';
import { flag, posFileOptions, SHOW, TELL, text, WHICH } from './option-parts.ts';

/** What `posidle inspect` takes. */
export const inspectOptions = {
  ...posFileOptions,
  root: {
    ...text('DIR', "look below it: a node's mount, or /proc/PID/root", WHICH),
    coerce: optional(nonEmpty('root')),
  },
  raw: { ...flag('only what stands in the pos file; no log file is looked at'), group: WHICH },
  state: {
    ...text('STATES', 'only files in these states, separated by commas', SHOW),
    coerce: optional(states('state')),
  },
  sort: { ...text('KEY', 'what comes first; a table sorts by lag', SHOW), choices: SORT_KEYS },
  follow: { ...flag('look again and again; in a terminal a live view'), alias: 'f', group: SHOW },
  interval: {
    ...text('DUR', 'with --follow: from look to look', SHOW),
    default: '1s',
    coerce: intervalOf('interval'),
  },
  plain: { ...flag('sentences without columns and colours, for a screen reader'), group: SHOW },
  color: {
    type: 'boolean',
    describe: 'colours; by default in a terminal, unless NO_COLOR is set',
    group: SHOW,
  },
  json: { ...flag('one JSON object'), group: TELL },
  ndjson: { ...flag('a line of JSON an entry'), group: TELL },
  check: { ...flag('exit 0 when caught up, else 1, and say why in one line'), group: TELL },
  'max-lag': {
    ...text('SIZE', 'with --check: so many bytes may be left; 0 unless --max-age is given', TELL),
    coerce: optional(size('max-lag')),
  },
  'max-age': {
    ...text('DUR', 'with --check: so long a position may stand still while something is left', TELL),
    coerce: optional(durationOf('max-age', [])),
  },
} as const satisfies Record<string, Options>;

export type InspectArgs = InferredOptionTypes<typeof inspectOptions>;
