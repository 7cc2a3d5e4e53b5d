import { UsageError } from '../../tasks/usage-error.ts';
import { notOneOf } from './environment.ts';
import { isCommand } from './mistakes.ts';

export const HELP_ALL = 'help-all';

/** The words as yargs knows them: `version`, `help watch` and `--help-all` become options. */
export function asOptions(words: readonly string[]): readonly string[] {
  const [first = '', ...others] = words;
  if (first === 'completion' && !others.some((word) => word.startsWith('-'))) return [first];
  if (first === 'version') return ['--version', ...others];
  // What is no command is told as such.
  if (first === 'help') return others.length === 0 || isCommand(others[0]) ? [...others, '--help'] : others;
  const isAll = words.slice(0, words.indexOf('--') >>> 0).includes(`--${HELP_ALL}`);
  return isAll ? ['--help', ...words] : words;
}

const SHELLS = ['bash', 'zsh', 'fish'];
const FISH =
  "complete -c posidle -f -a '(posidle --get-yargs-completions (commandline -opc) (commandline -ct))'\n";

/** The script for `completion fish`. yargs does not know fish; it knows bash and zsh by $SHELL. */
export function completionIn([command, shell]: readonly string[]): string | undefined {
  if (command !== 'completion' || shell === undefined || shell.startsWith('-')) return undefined;
  if (!SHELLS.includes(shell)) throw new UsageError(`completion: ${notOneOf(shell, SHELLS)}`);
  if (shell === 'fish') return FISH;
  process.env.SHELL = shell;
  return undefined;
}
