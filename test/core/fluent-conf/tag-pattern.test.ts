import { expect, test } from 'vitest';
import { tagMatches } from '../../../src/core/fluent-conf/tag-pattern.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';

test.each([
  ['**', 'fluent.info', true],
  ['a.**', 'a', true],
  ['a.**', 'a.b.c', true],
  ['a.**', 'ab', false],
  ['**.a', 'a', true],
  ['**.a', 'b.c.a', true],
  ['**.a', 'ba', false],
  ['x.**.a', 'x.b.a', true],
  ['a.*', 'a.b', true],
  ['a.*', 'a.b.c', false],
  ['{a,fluent.**}', 'fluent.warn', true],
  ['{a,{b,c}.d}e', 'c.de', true],
  ['x fluent.*', 'fluent.warn', true],
  ['/fluent\\.(info|warn)/', 'fluent.warn', true],
  ['/fluent\\.info|warn/', 'x.warn', true],
  ['/(/', 'fluent.warn', false],
  ['a\\*', 'a*', true],
  ['{a', 'a', false],
  ['a.', 'a', true],
])('%s takes %s: %s', (pattern, tag, matches) => {
  expect(tagMatches(pattern, tag)).toBe(matches);
});

test.each([
  ['*'.repeat(999), true],
  [`${'*a'.repeat(499)}`, false],
  [`x${' '.repeat(200_000)}y`, false],
  ['{'.repeat(999), false],
  [`${'{'.repeat(499)}${'}'.repeat(499)}`, false],
  [`/${'.*'.repeat(900)}x/`, false],
  ['/((((.*)*)*)*)*x/', false],
])('a pattern that is made to take long is answered at once', async (pattern, matches) => {
  const seconds = await cpuSeconds(() => expect(tagMatches(pattern, 'fluent.info')).toBe(matches));
  expect(seconds).toBeLessThan(5);
});
