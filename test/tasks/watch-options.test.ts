import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/core/drain/policy.ts';
import { DEFAULT_TAIL } from '../../src/core/progress/limits.ts';
import { policyOf, settingsOf, type WatchOptions } from '../../src/tasks/watch-options.ts';

const quietOf = (options: WatchOptions) => settingsOf(options).quiet;

test('quiet is the trigger only where no other one is given', () => {
  expect(quietOf({})).toBe(DEFAULT_POLICY.quiet);
  expect(quietOf({ doneFile: '/done' })).toBe('off');
  expect(quietOf({ doneProcess: 'main' })).toBe('off');
  expect(quietOf({ doneFile: '/done', quiet: 5_000 })).toBe(5_000);
  expect(quietOf({ mainGone: 5_000 })).toBe(DEFAULT_POLICY.quiet);
});

test('the policy of no options is the default one', () => {
  const facts = { tail: DEFAULT_TAIL, role: 'beside' as const };
  expect(policyOf(settingsOf({}), facts)).toEqual(DEFAULT_POLICY);
});
