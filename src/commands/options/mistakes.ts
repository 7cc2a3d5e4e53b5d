import { didYouMean } from '../../core/text/did-you-mean.ts';
import { COMMANDS, type Command } from './commands.ts';

const KNOWN: Readonly<Record<string, Command>> = COMMANDS;
/** yargs's own command. */
export const COMPLETION = 'completion';
const NAMES = [...Object.keys(KNOWN), COMPLETION];
const USE = `Use ${Object.keys(KNOWN)
  .join(', ')
  .replace(/, (\w+)$/, ' or $1')}`;
export const USE_RUN = 'Use posidle run [options] -- fluentd -c fluent.conf';

/** Turns yargs's message about a mistake into one line with the remedy. */
export function mistakeIn(message: string, words: readonly string[]): string {
  const [command = ''] = words;
  if (command === '' || command.startsWith('-')) return `missing command. ${USE}`;
  if (!NAMES.includes(command))
    return `there is no command '${command}'. ${didYouMean(command, NAMES) ?? USE}`;
  const unknown = /^Unknown arguments?: (.*)$/.exec(message)?.[1]?.split(', ');
  if (unknown !== undefined) return unknownIn(command, unknown, words);
  return message
    .replace(/^Not enough arguments following: (.*)$/, '--$1: the value is missing')
    .replace(/^Implications failed:\s+(\S+) -> (\S+)$/, '--$1: give --$2 too')
    .replace(/^Arguments (\S+) and (\S+) are mutually exclusive$/, '--$1 and --$2: give only one of them');
}

function unknownIn(command: string, unknown: readonly string[], words: readonly string[]): string {
  const bare = unknown.find((word) => words.includes(word));
  if (bare !== undefined && command === 'run')
    return `run: -- must stand before the command to start. ${USE_RUN}`;
  const see = `See posidle ${command} --help`;
  if (bare !== undefined)
    return `${command}: '${bare}' is unexpected. ${command === 'watch' ? 'Name a pos file with --pos-file' : see}`;
  // yargs lists an unknown option again in camel case.
  const [name = ''] = unknown;
  const known = [...Object.keys(KNOWN[command]?.options ?? {}), 'help', 'version'];
  const remedy = didYouMean(name, known, '--') ?? see;
  return `there is no option ${name.length === 1 ? '-' : '--'}${name}. ${remedy}`;
}
