import { expect, test } from 'vitest';
import yargs, { type Options } from 'yargs';
import { inspectOptions } from '../../../src/commands/options/inspect-options.ts';
import { optionsFromEnvironment } from '../../../src/commands/options/option-parts.ts';
import { watchOptions } from '../../../src/commands/options/options.ts';

const WRONG: readonly (readonly [line: string, said: RegExp])[] = [
  ['--pid one', /^--pid: 'one' is no process id; write a number such as 42$/],
  ['--pid 1 --pid 2', /^--pid: given 2 times; give it once$/],
  ['--pid-file=', /^--pid-file: it is empty; was a variable not set\?$/],
  ['--process (', /^--process: '\(' is no regular expression: /],
  ['--quiet 30', /^--quiet: '30' is no duration; write 500ms, 30s, 5m or 1h or off$/],
  ['--settle off', /^--settle: 'off' is no duration; write 500ms, 30s, 5m or 1h$/],
  ['--listen 70000', /^--listen: '70000' is no address; write 127\.0\.0\.1:8080/],
  ['--stop-signal kill', /^--stop-signal: 'kill' does not end Fluentd in order; write SIGINT or SIGTERM$/],
  ['--max-lag some', /^--max-lag: 'some' is no size; write 4096, 64KiB or 10MB$/],
  ['--state red', /^--state: 'red' is no state; write some of /],
  ['--interval 1ms', /^--interval: '1ms' is no time between two looks; write 10ms to 596h$/],
];

test.each(WRONG)('%s is refused by name, with the remedy', async (line, said) => {
  await expect(parsed(line.split(' '), { ...watchOptions, ...inspectOptions })).rejects.toThrow(said);
});

test('the signal may be written without its first letters, and small', async () => {
  expect(await parsed(['--stop-signal', 'term'], watchOptions)).toMatchObject({ 'stop-signal': 'SIGTERM' });
});

test('what the environment says is checked in the same way', async () => {
  const config = optionsFromEnvironment({ POSIDLE_GRACE: '5' }, watchOptions);
  await expect(parsed([], watchOptions, config)).rejects.toThrow(/^--grace: '5' is no duration/);
});

async function parsed(
  words: readonly string[],
  options: Readonly<Record<string, Options>>,
  config: object = {},
) {
  return yargs([...words])
    .options(options)
    .config(config)
    .fail((message, error) => {
      throw error ?? new Error(message);
    })
    .exitProcess(false)
    .parseAsync();
}
