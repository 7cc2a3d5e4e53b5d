import type { InferredOptionTypes } from 'yargs';
import { endpoint, fileCount, interval } from './coercions.ts';
import { inspectOptions } from './inspect-options.ts';
import { named, parsed, posFileOptions, TELL } from './option-parts.ts';
import { watchOptions } from './options.ts';

/** What `posidle export` takes. */
export const exportOptions = named({
  ...posFileOptions,
  root: inspectOptions.root,
  listen: {
    ...parsed('HOST:PORT', 'where GET /metrics and /healthz answer', TELL, endpoint),
    default: '127.0.0.1:8612',
  },
  interval: { ...parsed('DUR', 'the time between two looks', TELL, interval), default: '5s' },
  'per-file': {
    ...parsed('N', 'also tell of up to N files one by one, those that are furthest behind', TELL, fileCount),
    default: '0',
  },
  'log-level': watchOptions['log-level'],
  'log-format': watchOptions['log-format'],
} as const);

export type ExportArgs = InferredOptionTypes<typeof exportOptions>;
