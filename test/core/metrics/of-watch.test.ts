import { expect, test } from 'vitest';
import { begin } from '../../../src/core/drain/state.ts';
import { metricsOfWatch } from '../../../src/core/metrics/of-watch.ts';
import { policy, seen as seenAt, snapshot } from '../../support/builders.ts';

test('watch tells the files by the same names as export, and its own state', () => {
  const text = metricsOfWatch(
    { state: begin(0), seen: seenAt([snapshot(0, [])]), policy: policy(), drains: 2 },
    0,
  );
  expect(text).toMatch(/^posidle_lag_bytes 0$/m);
  expect(text).toMatch(/^posidle_files\{state="blocked"\} 0$/m);
  expect(text).toMatch(/^posidle_state\{state="waiting"\} 1$/m);
  expect(text).toMatch(/^posidle_drains_total 2$/m);
  expect(text).not.toContain('posidle_file_');
});
