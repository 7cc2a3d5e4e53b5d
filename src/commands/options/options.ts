import type { ArgumentsCamelCase, InferredOptionTypes } from 'yargs';
import { formatDuration } from '../../core/text/units.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../../log.ts';
import { UsageError } from '../../tasks/usage-error.ts';
import { DEFAULTS, type Settings, type WatchOptions } from '../../tasks/watch-options.ts';
import { durationOr, endpoint, nonEmpty, pattern, processId } from './coercions.ts';
import {
  duration,
  flag,
  HOW,
  namedInErrors,
  onlyInHelpAll,
  parsed,
  posFileOptions,
  TELL,
  text,
  WHEN,
  WHICH,
} from './option-parts.ts';

export const watchOptions = namedInErrors({
  ...posFileOptions,
  quiet: parsed(
    'DUR',
    `when no log file was read for this long; if no other trigger is given, by default ${formatDuration(Number(DEFAULTS.quiet))}, or longer if in_tail finds new files later; else off`,
    WHEN,
    durationOr('off'),
  ),
  'done-file': parsed('PATH', 'when this file exists', WHEN, nonEmpty),
  'done-process': parsed(
    'REGEX',
    'when main, the process that writes the logs, is gone; REGEX matches its command line (shared PID namespace)',
    WHEN,
    pattern,
  ),
  'heartbeat-file': parsed('PATH', 'when main no longer refreshes this file', WHEN, nonEmpty),
  'drain-timeout': duration('longest drain after a trigger', DEFAULTS.drainTimeout, HOW),
  grace: duration(
    "total time for drain and stop after SIGTERM to posidle; keep it below the Pod's grace period",
    DEFAULTS.grace,
    HOW,
  ),
  witness: parsed(
    'DIR|off',
    'where the witness in Fluentd listens (posidle witness DIR); by default $POSIDLE_DIR, or /posidle if it exists; run makes its own; off: none',
    HOW,
    nonEmpty,
  ),
  listen: parsed('HOST:PORT', 'where GET /healthz /readyz /status /metrics answer', TELL, endpoint),
  strict: flag('exit 3 also if the outcome is "unproven"', TELL),
  'log-level': {
    ...text('LEVEL', 'how much to log, to stderr', TELL),
    choices: LOG_LEVELS,
    default: 'info',
  },
  'log-format': {
    ...text('FORMAT', 'json, or pretty for people (the default on a terminal)', TELL),
    choices: LOG_FORMATS,
  },
  ...onlyInHelpAll({
    pid: parsed('N', 'the Fluentd supervisor with this pid', WHICH, processId),
    'pid-file': parsed(
      'FILE',
      "the Fluentd whose pid is in this file (Fluentd's -d writes it)",
      WHICH,
      nonEmpty,
    ),
    'done-process-gone': duration("how long main's process must be gone", DEFAULTS.doneProcessGone, WHEN),
    'heartbeat-age': duration('main has ended if the file is older than this', DEFAULTS.heartbeatAge, WHEN),
    'quit-token': parsed(
      'FILE|none',
      'when POST /quitquitquit comes to --listen, with the bearer token in FILE; none: without a token',
      WHEN,
      nonEmpty,
    ),
    settle: duration('how long everything must stay read before posidle believes it', DEFAULTS.settle, WHEN),
    'start-timeout': {
      ...duration('longest wait for Fluentd and its first pos file entry', DEFAULTS.startTimeout, WHEN),
      coerce: durationOr('off'),
    },
    'stop-timeout': duration('from the stop signal to SIGKILL', DEFAULTS.stopTimeout, HOW),
    'complete-last-line': {
      type: 'boolean',
      describe:
        'add the missing newline to a last line, so that Fluentd emits it; by default only if the trigger says that main has ended',
      group: HOW,
    },
    'termination-log': text(
      'FILE',
      'write the outcome here in one JSON line; by default /dev/termination-log if it exists',
      TELL,
    ),
  }),
} as const);

const {
  pid: _pid,
  'pid-file': _pidFile,
  /** A parent knows its child, so nobody names it. */
  ...runOptions
} = watchOptions;

export { runOptions };

export type RunArgs = ArgumentsCamelCase<InferredOptionTypes<typeof runOptions>>;
export type WatchArgs = ArgumentsCamelCase<InferredOptionTypes<typeof watchOptions>>;

export const drainOptions = namedInErrors({
  grace: duration(
    'longest time for drain and stop; in a Pod its terminationGracePeriodSeconds, which count from its deletion',
    30_000,
    HOW,
  ),
  'main-ended': flag(
    'main has ended; without it the outcome is not "drained", because main may write on',
    WHEN,
  ),
  witness: parsed(
    'DIR',
    "the directory of Fluentd's witness; by default $POSIDLE_DIR, or /posidle",
    HOW,
    nonEmpty,
  ),
  'termination-log': watchOptions['termination-log'],
  'log-level': watchOptions['log-level'],
  strict: watchOptions.strict,
  'log-format': { ...watchOptions['log-format'], default: 'pretty' },
} as const);

export type DrainArgs = InferredOptionTypes<typeof drainOptions>;

/** The watch options from the flags. `--quit-token` is a trigger too, so it turns the default `--quiet` off. */
export function watchOptionsOf(args: RunArgs): WatchOptions {
  const { posFiles, fluentd, signal, podEnds, ...flags } = DEFAULTS;
  const names = Object.keys(flags) as (keyof typeof flags)[];
  const given: WatchOptions = Object.fromEntries(names.map((name) => [name, args[name]]));
  if (args['quit-token'] === undefined) return { ...given, posFiles: args.posFile };
  if (args.listen === undefined)
    throw new UsageError('--quit-token: nobody can call posidle. Give --listen too');
  return { ...given, posFiles: args.posFile, quiet: args.quiet ?? 'off' };
}

export function targetOf(args: WatchArgs): Settings['fluentd'] {
  const named = (['pid', 'pid-file'] as const).filter((name) => args[name] !== undefined);
  if (named.length > 1) throw new UsageError(`--${named.join(' and --')}: give only one of them`);
  if (args.pid !== undefined) return { by: 'pid', pid: args.pid };
  if (args['pid-file'] !== undefined) return { by: 'pid-file', path: args['pid-file'] };
  return DEFAULTS.fluentd;
}
