import type { InferredOptionTypes } from 'yargs';
import { SORT_KEYS } from '../../core/inspect/order.ts';
import type { Millis } from '../../core/text/units.ts';
import { durationOr, interval, nonEmpty, size, states } from './coercions.ts';
import { flag, named, parsed, posFileOptions, SHOW, TELL, text, WHICH } from './option-parts.ts';

/** Between two looks, if no other time is given. */
export const INTERVAL: Millis = 1_000;

/** What `posidle inspect` takes. */
export const inspectOptions = named({
  ...posFileOptions,
  root: parsed('DIR', "look up all paths below it: a node's mount, or /proc/PID/root", WHICH, nonEmpty),
  raw: flag('show only the pos file; look at no log file', WHICH),
  state: parsed('STATES', 'only files in these states, separated by commas', SHOW, states),
  sort: { ...text('KEY', 'sort by this; by default, a table sorts by lag', SHOW), choices: SORT_KEYS },
  follow: { ...flag('keep looking; in a terminal, a live view', SHOW), alias: 'f' },
  interval: parsed(
    'DUR',
    'with --follow or --wait: the time between two looks; by default 1s',
    SHOW,
    interval,
  ),
  color: {
    type: 'boolean',
    describe: 'colours; by default in a terminal, unless NO_COLOR is set',
    group: SHOW,
  },
  witness: parsed('DIR', 'also ask Fluentd itself: where its witness listens', SHOW, nonEmpty),
  json: flag('one JSON object', TELL),
  ndjson: flag('one line of JSON for each entry', TELL),
  check: flag('exit 0 when no more is left than --max-lag and --max-age allow, else 1, and say why', TELL),
  wait: parsed(
    'DUR',
    'look again until nothing is left that waiting helps: exit 0; after this time: exit 1, and say what is left',
    TELL,
    durationOr(),
  ),
  'max-lag': parsed('SIZE', 'with --check: the most bytes that may be left to read', TELL, size),
  'max-age': parsed(
    'DUR',
    'with --check: fails when a file with unread bytes has not moved for this long',
    TELL,
    durationOr(),
  ),
} as const);

export type InspectArgs = InferredOptionTypes<typeof inspectOptions>;
