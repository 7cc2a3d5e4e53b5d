import { expect, test } from 'vitest';
import { formatAge } from '../../../src/core/text/age.ts';

test('an age fits a narrow column', () => {
  expect([0, 59_999, 60_000, 7_200_000, 1e9].map(formatAge)).toEqual(['0s', '59s', '1m', '2h', '11d']);
});
