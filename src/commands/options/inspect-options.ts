import type { InferredOptionTypes } from 'yargs';
import { durationOr, endpoint, fileCount, interval, nonEmpty, size } from './coercions.ts';
import { flag, namedInErrors, parsed, posFileOptions, SHOW, TELL, text, WHICH } from './option-parts.ts';
import { watchOptions } from './options.ts';

export const inspectOptions = namedInErrors({
  ...posFileOptions,
  root: parsed('DIR', "look up all paths below it: a node's mount, or /proc/PID/root", WHICH, nonEmpty),
  follow: {
    type: 'boolean',
    describe: 'keep looking; in a terminal, a live view',
    group: SHOW,
    alias: 'f',
    conflicts: ['max-lag', 'wait'],
  },
  interval: {
    ...parsed('DUR', 'with --follow or --wait: the time between two looks', SHOW, interval),
    default: '1s',
  },
  witness: parsed('DIR', 'also ask Fluentd itself: where its witness listens', SHOW, nonEmpty),
  json: flag('one JSON object, as src/core/inspect/inspection.schema.json says', TELL),
  'max-lag': {
    ...parsed(
      'SIZE',
      'fail if more than this is left to read, or if it is unknown: exit 1, and say why',
      TELL,
      size,
    ),
    conflicts: 'wait',
  },
  namespace: { ...text('NS', 'as kubectl posidle: the namespace of the Pod', WHICH), alias: 'n' },
  context: text('NAME', 'as kubectl posidle: the context of the kubeconfig', WHICH),
  wait: parsed(
    'DUR',
    'repeat until all files are found and read and, with a witness, all chunks are sent (exit 0); what can never be read is named, and not waited for. At most DUR (exit 1, and say what is left)',
    TELL,
    durationOr(),
  ),
} as const);

export type InspectArgs = InferredOptionTypes<typeof inspectOptions>;

export const exportOptions = namedInErrors({
  ...posFileOptions,
  root: inspectOptions.root,
  listen: {
    ...parsed('HOST:PORT', 'where GET /metrics and /healthz answer', TELL, endpoint),
    default: '127.0.0.1:8612',
  },
  interval: { ...parsed('DUR', 'the time between two looks', TELL, interval), default: '5s' },
  'per-file': {
    ...parsed('N', 'also one metric for each of the N files with the largest lag', TELL, fileCount),
    default: '0',
  },
  'log-format': watchOptions['log-format'],
} as const);

export type ExportArgs = InferredOptionTypes<typeof exportOptions>;
