import type { ArgumentsCamelCase, InferredOptionTypes } from 'yargs';
import { DEFAULT_POLICY } from '../../core/drain/policy.ts';
import { formatDuration } from '../../core/text/units.ts';
import type { WatchOptions } from '../../tasks/watch-options.ts';
import { durationOr, endpoint, nonEmpty, oneOf } from './coercions.ts';
import { duration, flag, HOW, namedInErrors, parsed, posFileOptions, TELL, WHEN } from './option-parts.ts';

const LOG_FORMATS = ['json', 'pretty'] as const;

export const watchOptions = namedInErrors({
  ...posFileOptions,
  quiet: parsed(
    'DUR',
    `when no log file was read for this long. Default: off with another trigger; else ${formatDuration(Number(DEFAULT_POLICY.quiet))}, but at least fluent.conf's refresh_interval + rotate_wait (65 s if it sets neither)`,
    WHEN,
    durationOr('off'),
  ),
  'done-file': parsed('PATH', 'when this file exists', WHEN, nonEmpty),
  'done-process': parsed(
    'TEXT',
    'when main, the process that writes the logs, is gone; TEXT is a part of its command line (shared PID namespace)',
    WHEN,
    nonEmpty,
  ),
  'heartbeat-file': parsed('PATH', 'when main no longer refreshes this file', WHEN, nonEmpty),
  'main-gone': parsed(
    'DUR',
    "how long main's process must be gone (by default 2s), or its heartbeat file stay as it is (15s)",
    WHEN,
    durationOr(),
  ),
  'quit-token': {
    ...parsed(
      'FILE|none',
      'when POST /quitquitquit comes to --listen, with the bearer token in FILE; none: without a token',
      WHEN,
      nonEmpty,
    ),
    implies: 'listen',
  },
  'start-timeout': {
    ...duration(
      "longest wait for Fluentd (then exit 4); for its first pos file entry (then, with --quiet, the drain begins); for main's process (then main counts as ended)",
      DEFAULT_POLICY.startTimeout,
      WHEN,
    ),
    coerce: durationOr('off'),
  },
  'drain-timeout': duration('longest drain after a trigger', DEFAULT_POLICY.drainTimeout, HOW),
  'stop-timeout': duration(
    'from the stop signal to SIGKILL; Fluentd needs the time to send, and 1 s for each chunk',
    DEFAULT_POLICY.stopTimeout,
    HOW,
  ),
  grace: duration(
    "total time for drain and stop after SIGTERM to posidle, and for a Fluentd that is not up yet; keep it below the Pod's grace period",
    DEFAULT_POLICY.grace,
    HOW,
  ),
  witness: parsed(
    'DIR|off',
    'where the witness in Fluentd listens (posidle witness DIR); by default $POSIDLE_DIR, else /posidle if it exists, but with `run` a new one in /tmp; off: none',
    HOW,
    nonEmpty,
  ),
  listen: parsed(
    'HOST:PORT',
    'where GET /healthz /readyz /status /metrics answer; a port alone means loopback',
    TELL,
    endpoint,
  ),
  strict: flag('exit 3 also if the outcome is "unproven"', TELL),
  'log-format': parsed(
    LOG_FORMATS.join('|'),
    'the form of the log, on stderr; by default pretty on a terminal, else json',
    TELL,
    oneOf(LOG_FORMATS),
  ),
  'termination-log': parsed(
    'FILE',
    'write the outcome here in one JSON line of at most 2 KiB; by default /dev/termination-log if it exists',
    TELL,
    nonEmpty,
  ),
} as const);

export type WatchArgs = ArgumentsCamelCase<InferredOptionTypes<typeof watchOptions>>;

export const drainOptions = namedInErrors({
  'main-ended': flag(
    'main has ended; without it the outcome is not "drained", because main may write on',
    WHEN,
  ),
  grace: duration(
    "longest time for drain and stop, and so to wait for a Fluentd that is not there yet; in a Pod its terminationGracePeriodSeconds, which count from main's end, or the Pod's deletion",
    30_000,
    HOW,
  ),
  witness: parsed(
    'DIR',
    "the directory of Fluentd's witness; by default $POSIDLE_DIR, or /posidle",
    HOW,
    nonEmpty,
  ),
  strict: watchOptions.strict,
  'log-format': {
    ...watchOptions['log-format'],
    describe: `${LOG_FORMATS.join('|')}: the form of the log, on stderr`,
    default: 'pretty',
  },
  'termination-log': watchOptions['termination-log'],
} as const);

export type DrainArgs = InferredOptionTypes<typeof drainOptions>;

/** The options of the task from the flags. `--quit-token` is a trigger too, so it turns the default `--quiet` off. */
export function watchOptionsOf({ posFile, quiet, ...flags }: WatchArgs): WatchOptions {
  return { ...flags, posFiles: posFile, quiet: quiet ?? (flags.quitToken === undefined ? undefined : 'off') };
}
