import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../../src/core/drain/defaults.ts';
import { begin } from '../../../src/core/drain/state.ts';
import { metricsOfWatch } from '../../../src/core/metrics/of-watch.ts';
import { seen as seenAt, snapshot } from '../../support/builders.ts';

test('watch tells the files by the same names as export, and its own state', () => {
  const seen = seenAt([snapshot(0, [])]);
  const text = metricsOfWatch({ state: begin(0), seen, policy: DEFAULT_POLICY, drains: 2 });
  expect(text).toMatch(/^posidle_lag_bytes 0$/m);
  expect(text).toMatch(/^posidle_files\{state="blocked"\} 0$/m);
  expect(text).toMatch(/^posidle_state\{state="waiting"\} 1$/m);
  expect(text).toMatch(/^posidle_drains_total 2$/m);
  expect(text).not.toContain('posidle_file_');
});
