import type { FileState } from '../../core/look/file-state.ts';

/** Colours, or none. */
export interface Style {
  state(state: FileState, text: string): string;
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36 } as const;
type Code = keyof typeof CODES;

const STATE_CODES: Readonly<Record<FileState, Code>> = {
  'caught-up': 'green',
  'partial-line': 'yellow',
  behind: 'cyan',
  blocked: 'red',
  rotated: 'magenta',
  truncated: 'red',
  missing: 'red',
  unreadable: 'red',
  undiscovered: 'yellow',
  unwatched: 'dim',
};

/** `wanted`: what `--color` and `--no-color` say. See no-color.org. */
export function isColored(wanted: boolean | undefined): boolean {
  if (wanted !== undefined) return wanted;
  const { NO_COLOR, TERM } = process.env;
  return process.stdout.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
}

export function styleOf(colored: boolean): Style {
  const paint = (code: Code, text: string) => (colored ? `\x1b[${CODES[code]}m${text}\x1b[0m` : text);
  return {
    state: (state, text) => paint(STATE_CODES[state], text),
    bold: (text) => paint('bold', text),
    dim: (text) => paint('dim', text),
    good: (text) => paint('green', text),
    bad: (text) => paint('red', text),
  };
}
