import { nearest } from '../../core/text/nearest.ts';
import { COMMANDS, type Command } from './commands.ts';
import { notOneOf } from './environment.ts';

export const HELP_ALL = 'help-all';

const KNOWN: Readonly<Record<string, Command>> = COMMANDS;
const USE = 'Use watch, run, drain, inspect, export, inject or witness';

/** Turns yargs's message about a mistake into one plain line with the remedy. */
export function mistakeIn(message: string, words: readonly string[]): string {
  const [command = ''] = words;
  if (!Object.hasOwn(KNOWN, command)) return mistakeInCommand(command);
  const unknown = /^Unknown arguments?: (.*)$/.exec(message)?.[1]?.split(', ');
  if (unknown !== undefined) return unknownIn(command, unknown, words);
  if (command === 'witness' && message.startsWith('Not enough non-option'))
    return 'witness: the directory is missing. Use posidle witness DIR';
  return message
    .replace(/^Not enough arguments following: (.*)$/, '--$1: the value is missing')
    .replace(/^Invalid values:\s+Argument: (\S+), Given: "(.*?)", Choices: (.*)(?:\n.*)*$/, chooseOne);
}

function mistakeInCommand(word: string): string {
  if (word === '' || word.startsWith('-')) return `missing command. ${USE}`;
  const meant = nearest(word, Object.keys(KNOWN));
  return `there is no command '${word}'. ${meant === undefined ? USE : `Did you mean ${meant}?`}`;
}

function chooseOne(_: string, option: string, given: string, choices: string): string {
  return `--${option}: ${notOneOf(given, choices.replaceAll('"', '').split(', '))}`;
}

function unknownIn(command: string, unknown: readonly string[], words: readonly string[]): string {
  // yargs lists an unknown option twice, the second time in camel case.
  const given = unknown.flatMap((name) => words.find((word) => word === name || isOption(word, name)) ?? []);
  const bare = given.find((word) => !word.startsWith('-'));
  if (bare === undefined) return unknownOption(command, given[0] ?? unknown.join(', '));
  const at = words.indexOf(bare);
  const corrected = [...words.slice(0, at), '--', ...words.slice(at)].join(' ');
  if (command === 'run') return `run: -- must stand before the command to start. Use posidle ${corrected}`;
  const remedy = command === 'watch' ? 'Name a pos file with --pos-file' : `See posidle ${command} --help`;
  return `${command}: '${bare}' is unexpected. ${remedy}`;
}

/** `--name`, `--name=value`, `--no-name`, or a letter of `-abc`. */
function isOption(word: string, name: string): boolean {
  const [given = ''] = word.split('=');
  const isLetter = name.length === 1 && /^-\w/.test(word) && word.includes(name);
  return isLetter || given === `--${name}` || given === `--no-${name}`;
}

function unknownOption(command: string, word: string): string {
  const [, given = word, dashes = '', name = ''] = /^((--no-|--?)([^=]*))/.exec(word) ?? [];
  const options = Object.entries(KNOWN[command]?.options ?? {});
  const fitting = options.filter(([, { type }]) => dashes !== '--no-' || type === 'boolean');
  const meant = nearest(name, [...fitting.map(([option]) => option), 'help', HELP_ALL, 'version']);
  const remedy = meant === undefined ? `See posidle ${command} --help` : `Did you mean ${dashes}${meant}?`;
  return `there is no option ${given}. ${remedy}`;
}
