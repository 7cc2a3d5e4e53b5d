import type { InferredOptionTypes, Options } from 'yargs';
import type { Endpoint } from '../core/fluent-conf.ts';
import { STATES } from '../core/inspected-rows.ts';
import { SORT_KEYS } from '../core/inspection-order.ts';
import type { FileState } from '../core/lag.ts';
import { DEFAULT_POLICY, type Policy } from '../core/policy.ts';
import type { FluentdTarget } from '../core/processes.ts';
import { type Millis, parseDuration, parseSize } from '../core/units.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../log.ts';
import { UsageError } from './usage-error.ts';

const WHICH = 'Which Fluentd:';
const WHEN = 'When to stop it:';
const HOW = 'How to stop it:';
const TELL = 'What to tell:';
const SHOW = 'How to show it:';

const posFileOptions = {
  'pos-file': list(
    'p',
    'PATH',
    'a pos file or glob of in_tail; repeatable; by default those of fluent.conf',
    WHICH,
  ),
  'fluent-conf': {
    ...text('FILE', "fluentd's configuration; by default $FLUENT_CONF or where the images have it", WHICH),
    alias: 'c',
    coerce: optional(nonEmpty('fluent-conf')),
  },
} as const;

export const watchOptions = {
  ...posFileOptions,
  pid: { ...text('N', 'the fluentd supervisor with this pid', WHICH), coerce: optional(wholeNumber('pid')) },
  'pid-file': {
    ...text('FILE', "the pid in this file (fluentd's -d)", WHICH),
    coerce: optional(nonEmpty('pid-file')),
  },
  process: {
    ...text('REGEX', 'the process whose command line matches', WHICH),
    coerce: optional(pattern('process')),
  },
  quiet: {
    ...text('DUR', 'begin when nothing has moved for this long; 60s when no other trigger is given', WHEN),
    coerce: optional(durationOf('quiet', ['off'])),
  },
  'done-file': {
    ...text('PATH', 'begin when this file exists', WHEN),
    coerce: optional(nonEmpty('done-file')),
  },
  'done-process': {
    ...text(
      'REGEX',
      "begin when main's process, whose command line matches, is gone (shared PID namespace)",
      WHEN,
    ),
    coerce: optional(pattern('done-process')),
  },
  listen: {
    ...text('HOST:PORT', 'POST /quitquitquit begins; GET /healthz /readyz /status /metrics', WHEN),
    coerce: optional(endpoint('listen')),
  },
  'token-file': {
    ...text('FILE', 'POST needs the bearer token in this file', WHEN),
    coerce: optional(nonEmpty('token-file')),
  },
  'ignore-old-done-file': {
    ...flag('a done file that was there before posidle does not count'),
    group: WHEN,
  },
  settle: { ...duration('settle', 'how long "everything read" must hold', '2s'), group: WHEN },
  'start-timeout': {
    ...duration('start-timeout', 'longest wait for fluentd and its first entry', '10m', ['off']),
    group: WHEN,
  },
  'drain-timeout': { ...duration('drain-timeout', 'longest drain after a trigger', '5m'), group: HOW },
  grace: { ...duration('grace', 'the whole budget after SIGTERM to posidle', '25s'), group: HOW },
  'stop-timeout': { ...duration('stop-timeout', 'from the stop signal to SIGKILL', '2m'), group: HOW },
  'stop-via': {
    ...text('HOW', 'by signal, by rpc (rpc_endpoint), or auto: a signal where the process is seen', HOW),
    choices: ['auto', 'signal', 'rpc'],
    default: 'auto',
  },
  'stop-signal': { ...text('SIG', 'the stop signal', HOW), default: 'SIGINT', coerce: stopSignal },
  'complete-last-line': { ...flag('end an unfinished last line, so that fluentd emits it'), group: HOW },
  'termination-log': text(
    'FILE',
    'the outcome in one JSON line; by default /dev/termination-log where it is',
    TELL,
  ),
  strict: { ...flag('exit 3 where something was left'), group: TELL },
  'dry-run': { ...flag('decide and log, signal nothing'), group: HOW },
  'log-level': { ...text('LEVEL', 'how much to log, to stderr', TELL), choices: LOG_LEVELS, default: 'info' },
  'log-format': {
    ...text('FORMAT', 'json, or pretty for people (the default on a terminal)', TELL),
    choices: LOG_FORMATS,
  },
} as const satisfies Record<string, Options>;

const { pid: _pid, 'pid-file': _pidFile, process: _process, ...ofTheWatch } = watchOptions;

/** A parent knows its child: nobody has to name it. */
export const runOptions = ofTheWatch;

export const inspectOptions = {
  ...posFileOptions,
  root: text('DIR', "look below it: a node's mount, or /proc/PID/root", WHICH),
  raw: { ...flag('only what stands in the pos file; no log file is looked at'), group: WHICH },
  state: {
    ...text('STATES', 'only files in these states, separated by commas', SHOW),
    coerce: optional(states('state')),
  },
  sort: { ...text('KEY', 'what comes first; a table sorts by lag', SHOW), choices: SORT_KEYS },
  follow: { ...flag('look again and again; in a terminal a live view'), alias: 'f', group: SHOW },
  interval: { ...duration('interval', 'with --follow: from look to look', '1s'), group: SHOW },
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

export type WatchArgs = InferredOptionTypes<typeof watchOptions>;
export type RunArgs = InferredOptionTypes<typeof runOptions>;
export type InspectArgs = InferredOptionTypes<typeof inspectOptions>;

/** The flags as a policy. */
export function policyOf(args: RunArgs): Policy {
  return {
    ...DEFAULT_POLICY,
    quiet: args.quiet ?? (hasOtherTrigger(args) ? 'off' : DEFAULT_POLICY.quiet),
    doneProcess: args['done-process'] !== undefined,
    settle: args.settle,
    startTimeout: args['start-timeout'],
    drainTimeout: args['drain-timeout'],
    grace: args.grace,
    stopTimeout: args['stop-timeout'],
    stopSignal: args['stop-signal'],
    strict: args.strict,
    dryRun: args['dry-run'],
    completeLastLine: args['complete-last-line'],
  };
}

function hasOtherTrigger(args: RunArgs): boolean {
  return [args['done-file'], args['done-process'], args.listen].some((given) => given !== undefined);
}

/** Which fluentd the flags name. */
export function targetOf(args: WatchArgs): FluentdTarget {
  const named = (['pid', 'pid-file', 'process'] as const).filter((name) => args[name] !== undefined);
  if (named.length > 1) throw new UsageError(`--${named.join(' and --')}: give only one of them`);
  if (args.pid !== undefined) return { by: 'pid', pid: args.pid };
  if (args['pid-file'] !== undefined) return { by: 'pid-file', path: args['pid-file'] };
  if (args.process !== undefined) return { by: 'pattern', pattern: args.process };
  return { by: 'search' };
}

/** `POSIDLE_` + the option's name in capitals, for the options that exist; other variables of that prefix are not ours. */
export function optionsFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  options: Readonly<Record<string, Options>>,
): Readonly<Record<string, unknown>> {
  const given = Object.entries(options).flatMap(([name, option]) => {
    const value = env[`POSIDLE_${name.toUpperCase().replaceAll('-', '_')}`];
    return value === undefined || value === '' ? [] : [[name, fromEnvironment(name, option, value)]];
  });
  return Object.fromEntries(given);
}

function fromEnvironment(name: string, option: Options, value: string): unknown {
  if (option.array === true) return value.split(',');
  if (option.type !== 'boolean') return value;
  if (/^(1|true|yes|on)$/i.test(value)) return true;
  if (/^(0|false|no|off)$/i.test(value)) return false;
  throw new UsageError(
    `POSIDLE_${name.toUpperCase().replaceAll('-', '_')}: '${value}' is neither true nor false`,
  );
}

function text(placeholder: string, meaning: string, group: string) {
  return { type: 'string', requiresArg: true, describe: `${placeholder}: ${meaning}`, group } as const;
}

function list(alias: string, placeholder: string, meaning: string, group: string) {
  return { ...text(placeholder, meaning, group), alias, array: true, nargs: 1 } as const;
}

function flag(meaning: string) {
  return { type: 'boolean', default: false, describe: meaning } as const;
}

function duration<Word extends string = never>(
  name: string,
  meaning: string,
  byDefault: string,
  words: readonly Word[] = [],
) {
  return { ...text('DUR', meaning, ''), default: byDefault, coerce: durationOf(name, words) } as const;
}

function durationOf<Word extends string>(name: string, words: readonly Word[]) {
  return (value: unknown): Millis | Word => {
    const given = single(name, value);
    const span = words.find((candidate) => candidate === given) ?? parseDuration(given);
    if (span !== undefined) return span;
    const or = words.map((candidate) => ` or ${candidate}`).join('');
    throw new UsageError(`--${name}: '${given}' is no duration; write 500ms, 30s, 5m or 1h${or}`);
  };
}

function nonEmpty(name: string) {
  return (value: unknown): string => {
    const given = single(name, value);
    if (given !== '') return given;
    throw new UsageError(`--${name}: it is empty; was a variable not set?`);
  };
}

function optional<T>(coerce: (value: unknown) => T) {
  return (value: unknown): T | undefined => (value === undefined ? undefined : coerce(value));
}

function size(name: string) {
  return (value: unknown): number => {
    const given = single(name, value);
    const bytes = parseSize(given);
    if (bytes !== undefined) return bytes;
    throw new UsageError(`--${name}: '${given}' is no size; write 4096, 64KiB or 10MB`);
  };
}

function states(name: string) {
  return (value: unknown): readonly FileState[] => {
    const words = single(name, value).split(',');
    const wrong = words.find((word) => !STATES.some((state) => state === word));
    if (wrong === undefined) return STATES.filter((state) => words.includes(state));
    throw new UsageError(`--${name}: '${wrong}' is no state; write some of ${STATES.join(',')}`);
  };
}

function wholeNumber(name: string) {
  return (value: unknown): number => {
    const given = single(name, value);
    if (/^[1-9]\d*$/.test(given)) return Number(given);
    throw new UsageError(`--${name}: '${given}' is no process id; write a number such as 42`);
  };
}

/** `HOST:PORT`, or a port on loopback; an address that others can reach has to be written out. */
function endpoint(name: string) {
  return (value: unknown): Endpoint => {
    const given = single(name, value);
    const match = /^(?:\[([^\]]+)\]:|([^:]+):)?(\d{1,5})$/.exec(given);
    const port = Number(match?.[3]);
    if (match !== null && port <= 65_535) return { host: match[1] ?? match[2] ?? '127.0.0.1', port };
    throw new UsageError(
      `--${name}: '${given}' is no address; write 127.0.0.1:8080, or 0.0.0.0:8080 to be reached from outside`,
    );
  };
}

function pattern(name: string) {
  return (value: unknown): RegExp => {
    const given = single(name, value);
    try {
      return new RegExp(given);
    } catch (error) {
      throw new UsageError(`--${name}: '${given}' is no regular expression: ${(error as Error).message}`);
    }
  };
}

/** Only signals on which Fluentd ends in order: SIGKILL and the like would lose what it holds. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'];

function stopSignal(value: unknown): string {
  const given = single('stop-signal', value).toUpperCase();
  const signal = given.startsWith('SIG') ? given : `SIG${given}`;
  if (STOP_SIGNALS.includes(signal)) return signal;
  throw new UsageError(
    `--stop-signal: '${given}' does not end Fluentd in order; write ${STOP_SIGNALS.join(' or ')}`,
  );
}

function single(name: string, value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  throw new UsageError(`--${name}: given ${value.length} times; give it once`);
}
