import { expect, test } from 'vitest';
import { mistakeIn } from '../../../src/commands/options/mistakes.ts';

const noOption = (name: string, then: string) => `there is no option --${name}. ${then}`;

/** The command line, yargs's message and posidle's message. test/e2e/mistakes.smoke.test.ts runs the command. */
const MISTAKES: readonly (readonly [line: string, yargs: string, said: string])[] = [
  ['wach', 'Unknown argument: wach', "there is no command 'wach'. Did you mean watch?"],
  [
    'fluentd',
    'Unknown argument: fluentd',
    "there is no command 'fluentd'. Use watch, run, drain, inspect, export, witness or inject",
  ],
  ['watch --quite=3s', 'Unknown argument: quite', noOption('quite', 'Did you mean --quiet?')],
  ['watch --done-flie x', 'Unknown arguments: done-flie', noOption('done-flie', 'Did you mean --done-file?')],
  ['run --no-strct -- fluentd', 'Unknown argument: strct', noOption('strct', 'Did you mean --strict?')],
  ['watch --when-ready', 'Unknown arguments: when-ready', noOption('when-ready', 'See posidle watch --help')],
  ['inspect -x a.pos', 'Unknown argument: x', 'there is no option -x. See posidle inspect --help'],
  ['watch a.pos', 'Unknown argument: a.pos', "watch: 'a.pos' is unexpected. Name a pos file with --pos-file"],
  [
    'run --quiet 3s fluentd -c x --no-supervisor',
    'Unknown arguments: supervisor, fluentd',
    'run: -- must stand before the command to start. Use posidle run [options] -- fluentd -c fluent.conf',
  ],
  ['witness /a /b', 'Unknown argument: /b', "witness: '/b' is unexpected. See posidle witness --help"],
  ['watch --quiet', 'Not enough arguments following: quiet', '--quiet: the value is missing'],
  [
    'watch --quit-token none',
    'Implications failed:\n quit-token -> listen',
    '--quit-token: give --listen too',
  ],
  [
    'inspect -f --wait 3s',
    'Arguments follow and wait are mutually exclusive',
    '--follow and --wait: give only one of them',
  ],
];

test.each(MISTAKES)('`posidle %s` is answered with the mistake and the remedy', (line, yargs, said) => {
  expect(mistakeIn(yargs, line.split(' '))).toBe(said);
});

test('an error about a value keeps its text', () => {
  const said = "--quiet: '30' isn't a duration. Did you mean 30s?";
  expect(mistakeIn(said, ['watch', '--quiet', '30'])).toBe(said);
});
