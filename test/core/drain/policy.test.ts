import { expect, test } from 'vitest';
import { lookInterval, type Policy } from '../../../src/core/drain/policy.ts';
import { policy } from '../../support/builders.ts';

test.each<[string, Partial<Policy>, number]>([
  ['a second', {}, 1_000],
  ['a quarter of a second where main’s process is looked for', { doneProcess: true }, 250],
])('between two looks lies at most %s', (_, rules, interval) => {
  expect(lookInterval(policy({ doneProcess: false, ...rules }))).toBe(interval);
});
