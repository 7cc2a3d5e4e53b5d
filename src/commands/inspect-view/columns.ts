import { styleText } from 'node:util';
import { shareRead } from '../../core/inspect/found.ts';
import { type FileState, STATES } from '../../core/look/file-state.ts';
import type { ObservedFile } from '../../core/look/observation.ts';
import { LARGEST_POSITION } from '../../core/pos-file/pos-file.ts';
import { printable } from '../../core/text/printable.ts';
import { shortenMiddle, widthOf } from '../../core/text/text-width.ts';
import { formatAge, formatBytes, type Millis } from '../../core/text/units.ts';

/** styleText respects the terminal's abilities and NO_COLOR. */
const COLOURS = {
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
} as const satisfies Readonly<Record<FileState, string>>;

export const COLUMNS: readonly string[] = ['STATE', 'LAG', 'READ', 'POSITION', 'SIZE', 'INODE', 'AGE'];
/** A narrow terminal hides these columns, the first one first. */
const HIDDEN_FIRST = ['INODE', 'POSITION', 'SIZE', 'AGE', 'READ', 'OLDEST', 'ETA', 'RATE'];

export interface Row {
  readonly state: FileState;
  readonly cells: readonly string[];
  readonly name: string;
}

export function rowOf(file: ObservedFile, at: Millis): Row {
  const { state, lag, size, position, inode, path, movedAt } = file;
  const age = Number.isFinite(movedAt) ? formatAge(at - movedAt) : '?';
  const cells = [
    state,
    lag === null ? '?' : formatBytes(lag),
    percentOf(file),
    position === null ? '-' : positionText(position),
    String(size ?? '?'),
    inode || '-',
    state === 'undiscovered' ? '-' : age,
  ];
  return { state, cells, name: printable(path) };
}

function positionText(position: number): string {
  return `${position >= LARGEST_POSITION ? '≥' : ''}${position}`;
}

/** Rounds down, so that 100% means that no byte is left. */
function percentOf({ size, lag, state }: ObservedFile): string {
  if (state === 'unwatched') return '-';
  return size === null || lag === null ? '?' : `${Math.floor(shareRead(size, lag) * 100)}%`;
}

const GAP = '  ';
const NAME = 'FILE';
/** Columns give way before a name gets narrower than this. */
const LEAST_NAME = 24;

/** The lines of a table, none wider than `width`. The first line is the title. Makes each row twice, because very many take much memory. */
export function* layOut(
  columns: readonly string[],
  files: readonly ObservedFile[],
  rowOf: (file: ObservedFile) => Row,
  width: number,
): Generator<string> {
  const shown = fitting(columns, files, rowOf, width);
  const room = Math.max(1, width - takenBy(shown));
  const [{ widest = 0 } = {}, ...others] = shown;
  const lineOf = (first: string, cells: readonly string[], name: string) => {
    let line = first + GAP;
    for (const { index, widest } of others) line += (cells[index] ?? '').padStart(widest) + GAP;
    return line + shortenMiddle(name, room);
  };
  yield styleText('dim', lineOf((columns[0] ?? '').padEnd(widest), columns, NAME));
  const painted = new Map(STATES.map((state) => [state, styleText(COLOURS[state], state.padEnd(widest))]));
  for (const file of files) {
    const { cells, name, state } = rowOf(file);
    yield lineOf(painted.get(state) ?? state, cells, name);
  }
}

function fitting(
  columns: readonly string[],
  files: readonly ObservedFile[],
  rowOf: (file: ObservedFile) => Row,
  width: number,
) {
  let longest = NAME.length;
  let shown = columns.map(({ length }, index) => ({ index, widest: length }));
  for (const file of files) {
    const { cells, name } = rowOf(file);
    if (longest < LEAST_NAME) longest = Math.max(longest, widthOf(name));
    for (const column of shown) column.widest = Math.max(column.widest, cells[column.index]?.length ?? 0);
  }
  const least = Math.min(longest, LEAST_NAME);
  for (const first of HIDDEN_FIRST) {
    if (takenBy(shown) + least <= width) break;
    shown = shown.filter(({ index }) => columns[index] !== first);
  }
  return shown;
}

function takenBy(shown: readonly { readonly widest: number }[]): number {
  return shown.reduce((sum, { widest }) => sum + widest + GAP.length, 0);
}
