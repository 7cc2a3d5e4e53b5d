import { expect, test } from 'vitest';
import { mistakeIn } from '../../../src/commands/options/mistakes.ts';

const noOption = (name: string, then: string) => `there is no option --${name}. ${then}`;

/** The command line, yargs's message and posidle's message. test/e2e/mistakes.test.ts runs the command. */
const MISTAKES: readonly (readonly [line: string, yargs: string, said: string])[] = [
  ['wach', 'Unknown argument: wach', "there is no command 'wach'. Did you mean watch?"],
  [
    'fluentd',
    'Unknown argument: fluentd',
    "there is no command 'fluentd'. Use watch, run, drain, inspect, export, inject or witness",
  ],
  ['watch --settel=3s', 'Unknown argument: settel', noOption('settel', 'Did you mean --settle?')],
  ['watch --done-flie x', 'Unknown arguments: done-flie', noOption('done-flie', 'Did you mean --done-file?')],
  ['run --no-strct -- fluentd', 'Unknown argument: strct', noOption('no-strct', 'Did you mean --no-strict?')],
  ['watch --when-ready', 'Unknown arguments: when-ready', noOption('when-ready', 'See posidle watch --help')],
  ['inspect -x a.pos', 'Unknown argument: x', 'there is no option -x. See posidle inspect --help'],
  ['watch a.pos', 'Unknown argument: a.pos', "watch: 'a.pos' is unexpected. Name a pos file with --pos-file"],
  [
    'run --quiet 3s fluentd -c x --no-supervisor',
    'Unknown arguments: supervisor, fluentd',
    'run: -- must stand before the command to start. Use posidle run --quiet 3s -- fluentd -c x --no-supervisor',
  ],
  ['witness /a /b', 'Unknown argument: /b', "witness: '/b' is unexpected. See posidle witness --help"],
  [
    'watch --log-format x --log-level y',
    'Invalid values:\n  Argument: log-format, Given: "x", Choices: "json", "pretty"\n  Argument: log-level, Given: "y", Choices: "info"',
    "--log-format: 'x' isn't one of json, pretty",
  ],
  [
    'watch --log-level wran',
    'Invalid values:\n  Argument: log-level, Given: "wran", Choices: "error", "warn", "info", "debug"',
    "--log-level: 'wran' isn't one of error, warn, info, debug. Did you mean warn?",
  ],
];

test.each(MISTAKES)('posidle %s', (line, yargs, said) => {
  expect(mistakeIn(yargs, line.split(' '))).toBe(said);
});

test('an error about a value keeps its text', () => {
  const said = "--quiet: '30' isn't a duration. Did you mean 30s?";
  expect(mistakeIn(said, ['watch', '--quiet', '30'])).toBe(said);
});
