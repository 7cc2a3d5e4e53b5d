import type { ArgumentsCamelCase, InferredOptionTypes } from 'yargs';
import { DEFAULT_POLICY } from '../../core/drain/policy.ts';
import { formatDuration } from '../../core/text/units.ts';
import { UsageError } from '../../tasks/usage-error.ts';
import type { WatchOptions } from '../../tasks/watch-options.ts';
import { durationOr, endpoint, nonEmpty, oneOf } from './coercions.ts';
import { duration, flag, HOW, namedInErrors, parsed, posFileOptions, TELL, WHEN } from './option-parts.ts';

const LOG_FORMATS = ['json', 'pretty'] as const;

export const watchOptions = namedInErrors({
  ...posFileOptions,
  quiet: {
    ...parsed(WHEN, durationOr('off')),
    describe: `DUR: when no log file was read for this long. Default: off with another trigger; else ${formatDuration(DEFAULT_POLICY.quiet)}, but at least fluent.conf's refresh_interval + rotate_wait (65 s if it sets neither)`,
  },
  'done-file': { ...parsed(WHEN, nonEmpty), describe: 'PATH: when this file exists' },
  'done-process': {
    ...parsed(WHEN, nonEmpty),
    describe:
      'TEXT: when main, the process that writes the logs, is gone; TEXT is a part of its command line (shared PID namespace)',
  },
  'heartbeat-file': { ...parsed(WHEN, nonEmpty), describe: 'PATH: when main no longer refreshes this file' },
  'main-gone': {
    ...parsed(WHEN, durationOr()),
    describe:
      "DUR: how long main's process must be gone (by default 2s), or its heartbeat file stay as it is (15s)",
  },
  'quit-token': {
    ...parsed(WHEN, nonEmpty),
    describe:
      'FILE|none: when POST /quitquitquit comes to --listen, with the bearer token in FILE; none: without a token',
    implies: 'listen',
  },
  'start-timeout': {
    ...duration(WHEN, DEFAULT_POLICY.startTimeout),
    describe:
      "DUR: longest wait for Fluentd (then exit 4); for its first pos file entry (then, with --quiet, the drain begins); for main's process (then main counts as ended)",
    coerce: durationOr('off'),
  },
  'drain-timeout': {
    ...duration(HOW, DEFAULT_POLICY.drainTimeout),
    describe: 'DUR: longest drain after a trigger',
  },
  'stop-timeout': {
    ...duration(HOW, DEFAULT_POLICY.stopTimeout),
    describe: 'DUR: from the stop signal to SIGKILL; Fluentd needs the time to send, and 1 s for each chunk',
  },
  grace: {
    ...duration(HOW, DEFAULT_POLICY.grace),
    describe:
      "DUR: total time for drain and stop after SIGTERM to posidle, and for a Fluentd that is not up yet; keep it below the Pod's grace period",
  },
  witness: {
    ...parsed(HOW, nonEmpty),
    describe:
      'DIR|off: where the witness in Fluentd listens (posidle witness DIR); by default $POSIDLE_DIR, else /posidle if it exists, but with `run` a new one in /tmp; off: none',
  },
  listen: {
    ...parsed(TELL, endpoint),
    describe: 'HOST:PORT: where GET /healthz /readyz /status /metrics answer; a port alone means loopback',
  },
  strict: flag('exit 3 also if the outcome is "unproven"', TELL),
  'log-format': {
    ...parsed(TELL, oneOf(LOG_FORMATS)),
    describe: `${LOG_FORMATS.join('|')}: the form of the log, on stderr; by default pretty on a terminal, else json`,
  },
  'termination-log': {
    ...parsed(TELL, nonEmpty),
    describe:
      'FILE: write the outcome here in one JSON line of at most 2 KiB; by default /dev/termination-log if it exists',
  },
} as const);

export type WatchArgs = ArgumentsCamelCase<InferredOptionTypes<typeof watchOptions>>;

export const drainOptions = namedInErrors({
  'main-ended': flag(
    'main has ended; without it the outcome is not "drained", because main may write on',
    WHEN,
  ),
  grace: {
    ...duration(HOW, 30_000),
    describe:
      "DUR: longest time for drain and stop, and so to wait for a Fluentd that is not there yet; in a Pod its terminationGracePeriodSeconds, which count from main's end, or the Pod's deletion",
  },
  witness: {
    ...parsed(HOW, nonEmpty),
    describe: "DIR: the directory of Fluentd's witness; by default $POSIDLE_DIR, or /posidle",
  },
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
  const { mainGone, doneProcess, heartbeatFile } = flags;
  if (mainGone !== undefined && (doneProcess ?? heartbeatFile) === undefined)
    throw new UsageError('--main-gone: give --done-process or --heartbeat-file too');
  return { ...flags, posFiles: posFile, quiet: quiet ?? (flags.quitToken === undefined ? undefined : 'off') };
}
