import { expect, test } from 'vitest';
import { BUSY_LOOKS, lookInterval, type Policy } from '../../../src/core/drain/policy.ts';
import { policy } from '../../support/builders.ts';

test.each<[string, Partial<Policy>, number]>([
  ['a second', {}, 1_000],
  ['a quarter of a second where main’s process is looked for', { doneProcess: true }, 250],
])('between two looks lies at most %s', (_, rules, interval) => {
  expect(lookInterval(policy({ doneProcess: false, ...rules }))).toBe(interval);
});

test('while posidle drains or stops, it looks ten times a second', () => {
  expect(BUSY_LOOKS).toBe(100);
});
