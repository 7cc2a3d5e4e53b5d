import { expect, test } from 'vitest';
import yargs, { type Options } from 'yargs';
import { optionsFromEnvironment } from '../../../src/commands/options/environment.ts';
import { inspectOptions } from '../../../src/commands/options/inspect-options.ts';
import { type WatchArgs, watchOptions, watchOptionsOf } from '../../../src/commands/options/options.ts';
import { DEFAULT_POLICY } from '../../../src/core/drain/policy.ts';
import { UsageError } from '../../../src/tasks/usage-error.ts';
import { policyOf, type WatchOptions } from '../../../src/tasks/watch-options.ts';

const WRONG: readonly (readonly [line: string, said: RegExp])[] = [
  ['--grace 1s --grace 2s', /^--grace: given 2 times\. Give it once$/],
  ['--termination-log /a --termination-log /b', /^--termination-log: given 2 times/],
  ['--done-file=', /^--done-file: the value is empty\. Is a variable not set\?$/],
  ['--quiet 30', /^--quiet: '30' isn't a duration\. Did you mean 30s\?$/],
  ['--quiet soon', /^--quiet: 'soon' isn't a duration\. Write 500ms, 30s, 5m or 1h, or off$/],
  ['--main-gone off', /^--main-gone: 'off' isn't a duration\. Write 500ms, 30s, 5m or 1h$/],
  ['--listen 70000', /^--listen: '70000' isn't an address\. Write 127\.0\.0\.1:8080/],
  ['--max-lag some', /^--max-lag: 'some' isn't a size\. Write 4096, 64KiB or 10MB$/],
  ['--log-format jsno', /^--log-format: 'jsno' isn't one of json, pretty\. Did you mean json\?$/],
  ['--interval 1ms', /^--interval: '1ms' isn't a time between two looks\. Write 10ms to 596h$/],
];

test.each(WRONG)('%s is refused by name, with the remedy', async (line, said) => {
  await expect(parsed(line.split(' '), { ...watchOptions, ...inspectOptions })).rejects.toThrow(said);
});

test('a value from the environment is checked in the same way, and its error names the variable', () => {
  const given = (env: NodeJS.ProcessEnv) => () => optionsFromEnvironment(env, watchOptions);
  expect(given({ POSIDLE_GRACE: '5' })).toThrow(/^POSIDLE_GRACE: '5' isn't a duration\. Did you mean 5s\?$/);
  expect(given({ POSIDLE_LOG_FORMAT: 'jsno' })).toThrow(
    /^POSIDLE_LOG_FORMAT: 'jsno' .* Did you mean json\?$/,
  );
  expect(given({ POSIDLE_STRICT: 'maybe' })).toThrow("POSIDLE_STRICT: 'maybe' isn't true or false");
  const switches = given({ POSIDLE_STRICT: 'Yes' });
  expect(switches()).toEqual({ strict: true });
});

type Flag = readonly [name: string, given: string, value: unknown];
/** For each setting that may stand alone its flag, a value and the result. */
const SETTINGS: Record<Exclude<keyof WatchOptions, 'podEnds' | 'mainGone'>, Flag> = {
  posFiles: ['--pos-file', 'a.pos', ['a.pos']],
  fluentConf: ['--fluent-conf', 'f.conf', 'f.conf'],
  quiet: ['--quiet', '1s', 1_000],
  startTimeout: ['--start-timeout', 'off', 'off'],
  drainTimeout: ['--drain-timeout', '4s', 4_000],
  grace: ['--grace', '5s', 5_000],
  stopTimeout: ['--stop-timeout', '6s', 6_000],
  witness: ['--witness', '/posidle', '/posidle'],
  doneFile: ['--done-file', 'done', 'done'],
  doneProcess: ['--done-process', 'main', 'main'],
  heartbeatFile: ['--heartbeat-file', 'beat', 'beat'],
};
const settingsBy = async (words: readonly string[]) =>
  watchOptionsOf((await parsed(words, watchOptions)) as unknown as WatchArgs);

test.each(Object.entries(SETTINGS))('the setting %s comes from %o', async (key, [flag, given, value]) => {
  expect(await settingsBy([flag, given])).toHaveProperty(key, value);
});

test('a time for main to be gone needs something that tells it', async () => {
  const said = '--main-gone: give --done-process or --heartbeat-file too';
  const gone = ['--main-gone', '8s'];
  for (const others of [[], ['--done-file', 'done'], ['--quiet', '9s']])
    await expect(settingsBy([...gone, ...others])).rejects.toThrow(new UsageError(said));
  for (const teller of ['--done-process', '--heartbeat-file'])
    expect(await settingsBy([...gone, teller, 'main'])).toMatchObject({ mainGone: 8_000 });
});

test('without a flag, every setting is the default', async () => {
  expect(policyOf(await settingsBy([]), undefined, 'beside')).toEqual(DEFAULT_POLICY);
});

test('a POST is a trigger: quiet is off then, unless it is given', async () => {
  const called = ['--listen', '80', '--quit-token', 'none'];
  expect(await settingsBy(called)).toMatchObject({ quiet: 'off' });
  expect(await settingsBy([...called, '--quiet', '3s'])).toMatchObject({ quiet: 3_000 });
});

async function parsed(words: readonly string[], options: Readonly<Record<string, Options>>) {
  return yargs([...words])
    .options(options)
    .fail((message, error) => {
      throw error ?? new Error(message);
    })
    .exitProcess(false)
    .parseAsync();
}
