import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/core/drain/policy.ts';
import { policyOf } from '../../src/tasks/watch-options.ts';

test('the policy of no options is the default one', () => {
  expect(policyOf({}, undefined, 'beside')).toEqual(DEFAULT_POLICY);
});
