import type { InferredOptionTypes } from 'yargs';
import { endpoint, interval } from './coercions.ts';
import { inspectOptions } from './inspect-options.ts';
import { named, parsed, perFile, posFileOptions, TELL } from './option-parts.ts';

/** What `posidle export` takes. */
export const exportOptions = named({
  ...posFileOptions,
  root: inspectOptions.root,
  listen: {
    ...parsed('HOST:PORT', 'where GET /metrics and /healthz answer', TELL, endpoint),
    default: '127.0.0.1:8612',
  },
  interval: { ...parsed('DUR', 'the time between two looks', TELL, interval), default: '5s' },
  'per-file': perFile,
} as const);

export type ExportArgs = InferredOptionTypes<typeof exportOptions>;
