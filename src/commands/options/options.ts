import type { InferredOptionTypes, Options } from 'yargs';
import { DEFAULT_POLICY, type Policy } from '../../core/drain/policy.ts';
import type { FluentdTarget } from '../../core/fluentd/processes.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../../log.ts';
import { UsageError } from '../../tasks/usage-error.ts';
import { durationOf, endpoint, nonEmpty, optional, pattern, stopSignal, wholeNumber } from './coercions.ts';
import { duration, flag, HOW, posFileOptions, TELL, text, WHEN, WHICH } from './option-parts.ts';

/** What `posidle watch` takes. */
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

export type WatchArgs = InferredOptionTypes<typeof watchOptions>;
export type RunArgs = InferredOptionTypes<typeof runOptions>;

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
