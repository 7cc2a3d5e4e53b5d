import { expect, test } from 'vitest';
import { lookInterval, type Policy } from '../../../src/core/drain/policy.ts';
import { policy } from '../../support/builders.ts';

test.each<[string, Partial<Policy>, number]>([
  ['a second where there is no quiet window', { quiet: 'off' }, 1_000],
  ['a second where the window is long', { quiet: 60_000 }, 1_000],
  ['half a short window', { quiet: 1_200 }, 600],
  ['a tenth of a second where the window is shorter than that', { quiet: 50 }, 100],
  ['a quarter of a second where main’s process is looked for', { quiet: 'off', doneProcess: true }, 250],
])('between two looks lies at most %s', (_, rules, interval) => {
  expect(lookInterval(policy({ doneProcess: false, ...rules }))).toBe(interval);
});
