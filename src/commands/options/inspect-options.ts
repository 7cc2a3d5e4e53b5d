import type { InferredOptionTypes } from 'yargs';
import { durationOr, endpoint, fileCount, interval, nonEmpty, size } from './coercions.ts';
import { flag, namedInErrors, parsed, posFileOptions, SHOW, TELL, text, WHICH } from './option-parts.ts';
import { watchOptions } from './options.ts';

export const inspectOptions = namedInErrors({
  ...posFileOptions,
  root: {
    ...parsed(WHICH, nonEmpty),
    describe: "DIR: look up all paths below it: a node's mount, or /proc/PID/root",
  },
  follow: {
    type: 'boolean',
    describe: 'keep looking; in a terminal, a live view',
    group: SHOW,
    alias: 'f',
    conflicts: ['max-lag', 'wait'],
  },
  interval: {
    ...parsed(SHOW, interval),
    describe: 'DUR: with --follow or --wait: the time between two looks',
    default: '1s',
  },
  witness: { ...parsed(SHOW, nonEmpty), describe: 'DIR: also ask Fluentd itself: where its witness listens' },
  json: flag('one JSON object, as src/core/inspect/inspection.schema.json says', TELL),
  'max-lag': {
    ...parsed(TELL, size),
    describe: 'SIZE: fail if more than this is left to read, or if it is unknown: exit 1, and say why',
    conflicts: 'wait',
  },
  namespace: { ...text(WHICH), describe: 'NS: as kubectl posidle: the namespace of the Pod', alias: 'n' },
  context: { ...text(WHICH), describe: 'NAME: as kubectl posidle: the context of the kubeconfig' },
  wait: {
    ...parsed(TELL, durationOr()),
    describe:
      'DUR: repeat until all files are found and read and, with a witness, all chunks are sent (exit 0); what can never be read is named, and not waited for. At most DUR (exit 1, and say what is left)',
  },
} as const);

export type InspectArgs = InferredOptionTypes<typeof inspectOptions>;

export const exportOptions = namedInErrors({
  ...posFileOptions,
  root: inspectOptions.root,
  listen: {
    ...parsed(TELL, endpoint),
    describe: 'HOST:PORT: where GET /metrics and /healthz answer',
    default: '127.0.0.1:8612',
  },
  interval: { ...parsed(TELL, interval), describe: 'DUR: the time between two looks', default: '5s' },
  'per-file': {
    ...parsed(TELL, fileCount),
    describe: 'N: also one metric for each of the N files with the largest lag',
    default: '0',
  },
  'log-format': watchOptions['log-format'],
} as const);

export type ExportArgs = InferredOptionTypes<typeof exportOptions>;
