import { expect, test } from 'vitest';
import { isAnotherBirth } from '../../../src/core/look/file-times.ts';

test.each([
  [100, 100, false],
  // Rounded up once and down once.
  [100, 101, false],
  [100, 102, true],
  [102, 100, true],
  [100, undefined, undefined],
  [undefined, 100, undefined],
])('files made at %j ms and %j ms, with the same inode, are different ones: %j', (before, now, isAnother) => {
  expect(isAnotherBirth({ born: before }, { born: now })).toBe(isAnother);
});
