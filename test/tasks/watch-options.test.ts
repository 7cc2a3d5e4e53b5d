import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/core/drain/policy.ts';
import { DEFAULT_TAIL } from '../../src/core/progress/limits.ts';
import { DEFAULTS, policyOf, settingsOf, type WatchOptions } from '../../src/tasks/watch-options.ts';
import { cpuSeconds } from '../support/cpu-seconds.ts';

const quietOf = (options: WatchOptions) => settingsOf(options, false).quiet;

test('quiet is the trigger only where no other one is given', () => {
  expect(quietOf({})).toBe(DEFAULT_POLICY.quiet);
  expect(quietOf({ doneFile: '/done' })).toBe('off');
  expect(quietOf({ doneProcess: /main/ })).toBe('off');
  expect(quietOf({ signal: new AbortController().signal })).toBe('off');
  expect(quietOf({ doneFile: '/done', quiet: 5_000 })).toBe(5_000);
});

test('an undefined option is left out', () => {
  expect(settingsOf({ settle: undefined, doneFile: undefined }, false)).toEqual(DEFAULTS);
});

test('an option that does not exist is refused by name, and the others are listed', () => {
  const misspelt = { quiet: 1, setle: 2, refreshInterval: 3, toString: 4 } as WatchOptions;
  const why = /^no such option: setle, refreshInterval, toString; there are quiet, settle, /;
  expect(() => settingsOf(misspelt, false)).toThrow(TypeError);
  expect(() => settingsOf(misspelt, false)).toThrow(why);
});

test('a parent knows its Fluentd: none can be named', () => {
  const options: WatchOptions = { fluentd: { by: 'pid', pid: 1 } };
  expect(settingsOf(options, false).fluentd).toEqual({ by: 'pid', pid: 1 });
  expect(() => settingsOf(options, true)).toThrow(/^no such option: fluentd;/);
});

test('the policy of no options is the default one', () => {
  const facts = { tail: DEFAULT_TAIL, role: 'beside' as const };
  expect(policyOf(settingsOf({}, false), facts)).toEqual(DEFAULT_POLICY);
});

describe('the pattern of a process', () => {
  const patternOf = (doneProcess: RegExp) => settingsOf({ doneProcess }, false).doneProcess as RegExp;

  const SLOW = [/a.*a.*a.*b/, /(a+)+b/, /(a|aa)*b/];
  test.each(SLOW)('%s takes a second at most for all that a look keeps of command lines', async (given) => {
    const pattern = patternOf(given);
    const rows = Array.from({ length: 64 }, () => 'a'.repeat(4_096));
    expect(await cpuSeconds(() => rows.filter((row) => pattern.test(row)))).toBeLessThan(1);
    expect(pattern.test('aaab')).toBe(true);
  });

  test.each([/(?=a)b/, /(a)\1/, /a{900}/, /a/i])('%s is refused: it may take for ever', (given) => {
    const why = /^`doneProcess`: \/.*\/i? may take for ever on the command line of a neighbour/;
    expect(() => patternOf(given)).toThrow(why);
  });
});
