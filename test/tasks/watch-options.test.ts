import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/core/drain/policy.ts';
import { DEFAULT_TAIL } from '../../src/core/progress/limits.ts';
import { policyOf, settingsOf } from '../../src/tasks/watch-options.ts';

test('the policy of no options is the default one', () => {
  const facts = { tail: DEFAULT_TAIL, role: 'beside' as const };
  expect(policyOf(settingsOf({}), facts)).toEqual(DEFAULT_POLICY);
});
