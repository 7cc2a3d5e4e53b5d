import type { InferredOptionTypes } from 'yargs';
import { DEFAULTS } from '../../tasks/watch-options.ts';
import { duration, flag, HOW, named, WHEN } from './option-parts.ts';
import { watchOptions } from './options.ts';

const { 'pos-file': posFile, 'fluent-conf': fluentConf, witness, strict } = watchOptions;
const { 'complete-last-line': completeLastLine } = watchOptions;
const { 'termination-log': terminationLog, 'log-level': logLevel, 'log-format': logFormat } = watchOptions;

/** What `posidle drain` takes. */
export const drainOptions = named({
  grace: duration(
    "terminationGracePeriodSeconds of the Pod: the whole time, also for main's end",
    DEFAULTS.grace,
    HOW,
  ),
  'main-ended': flag('main has ended: wait for no gate', WHEN),
  witness,
  'pos-file': posFile,
  'fluent-conf': fluentConf,
  'complete-last-line': completeLastLine,
  strict: { ...strict, describe: 'exit 4 if the outcome is not "drained"' },
  'termination-log': terminationLog,
  'log-level': logLevel,
  'log-format': { ...logFormat, default: 'pretty' },
} as const);

export type DrainArgs = InferredOptionTypes<typeof drainOptions>;
