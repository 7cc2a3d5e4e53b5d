import { memoryBuffer, output, type Params, type Section } from '../support/fluentd-conf.ts';

/** out_http to the destination of the situation. Its buffer is in memory, unless it says otherwise. */
export const toDestination = (
  buffer: Params,
  { arg = 'app', more = [] as readonly Section[] } = {},
): Section => ({
  ...output(
    'http',
    { endpoint: 'http://127.0.0.1:{port}/', retryable_response_codes: '503', open_timeout: 5 },
    [memoryBuffer(buffer), ...more],
  ),
  arg,
});

export const ON_DISK: Params = { '@type': 'file', path: '{dir}/buffer' };
/** Nothing flushes by itself. */
export const LAZY: Params = { flush_mode: 'interval', flush_interval: 300 };

/** Twenty lines, which in_tail has read. */
export const READ = [
  ['write', 'app.log', 20],
  ['until', 'all is read'],
] as const;
