import { expect, test, vi } from 'vitest';
import { StatusBoard } from '../../../src/commands/drain-report/status-board.ts';
import { begin } from '../../../src/core/drain/state.ts';
import * as metrics from '../../../src/core/metrics/of-watch.ts';
import { policy, seen as seenAt, snapshot } from '../../support/builders.ts';

vi.mock('../../../src/core/metrics/of-watch.ts', { spy: true });

test('whoever asks again before the next look gets the same answer, made once', () => {
  const board = new StatusBoard(() => 0, policy());
  const seen = seenAt([snapshot(0, [])]);
  const { '/metrics': ask } = board.routes(() => {}, undefined).get;
  board.looked(begin(0), seen);
  expect(ask?.()).toEqual(ask?.());
  expect(metrics.metricsOfWatch).toHaveBeenCalledOnce();
  board.looked(begin(0), seen);
  ask?.();
  expect(metrics.metricsOfWatch).toHaveBeenCalledTimes(2);
});

test('a look that is late is no look: it hangs', () => {
  let now = 0;
  const board = new StatusBoard(() => now, policy());
  const { '/healthz': ask } = board.routes(() => {}, undefined).get;
  const seen = seenAt([snapshot(0, [])]);
  board.looked(begin(0), seen);
  expect(ask?.().isWell).toBe(true);
  now = 20_000;
  board.looked(begin(0), { ...seen, at: now, extent: 'late' });
  expect(ask?.().isWell).toBe(false);
});

test.each([
  ['without a token there is nothing to POST to', undefined, [], undefined],
  ['with none anybody may quit', 'none', ['/quitquitquit'], undefined],
  ['with a file only its bearer may quit', '/run/token', ['/quitquitquit'], '/run/token'],
])('%s', (_, token, paths, tokenFile) => {
  const routes = new StatusBoard(() => 0, policy()).routes(() => {}, token);
  expect([Object.keys(routes.post), routes.tokenFile]).toEqual([paths, tokenFile]);
});
