import { styleText } from 'node:util';
import { shareRead } from '../../core/inspect/order.ts';
import type { FileState } from '../../core/look/file-state.ts';
import type { ObservedFile } from '../../core/observe/observation.ts';
import { LARGEST_POSITION } from '../../core/pos-file/pos-file.ts';
import { printable } from '../../core/text/printable.ts';
import { shortenMiddle, widthOf } from '../../core/text/text-width.ts';
import { formatAge, formatBytes, type Millis } from '../../core/text/units.ts';

/** Node knows what the terminal can, and NO_COLOR. */
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

interface Column {
  readonly title: string;
  /** Columns of little importance give way first where it is narrow: 1 before 2; undefined: never. */
  readonly givesWay?: number;
}

export const COLUMNS: readonly Column[] = [
  { title: 'STATE' },
  { title: 'LAG' },
  { title: 'READ', givesWay: 5 },
  { title: 'POSITION', givesWay: 2 },
  { title: 'SIZE', givesWay: 3 },
  { title: 'INODE', givesWay: 1 },
  { title: 'AGE', givesWay: 4 },
];

/** A file: what stands in the columns, and its name, which takes what is left. */
export interface Row {
  readonly state: FileState;
  readonly cells: readonly string[];
  readonly name: string;
}

/** `at`: when the look was taken. */
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

/** Never 100% as long as a byte is left. */
function percentOf({ size, lag, state }: ObservedFile): string {
  if (state === 'unwatched') return '-';
  return size === null || lag === null ? '?' : `${Math.floor(shareRead(size, lag) * 100)}%`;
}

const GAP = '  ';
const NAME = 'FILE';
/** A name is not cut below this width as long as another column can go. */
const LEAST_NAME = 24;

/** The lines of a table, none wider than `width`; the first is its title. */
export function layOut(columns: readonly Column[], rows: readonly Row[], width: number): readonly string[] {
  const shown = fitting(columns, rows, width);
  const room = Math.max(1, width - takenBy(shown));
  const lineOf = (cells: readonly string[], name: string, paintFirst = plain) => {
    const padded = shown.map(({ index, widest }) => {
      const text = cells[index] ?? '';
      return index === 0 ? paintFirst(text.padEnd(widest)) : text.padStart(widest);
    });
    return [...padded, shortenMiddle(name, room)].join(GAP);
  };
  const titles = columns.map(({ title }) => title);
  return [
    styleText('dim', lineOf(titles, NAME)),
    ...rows.map(({ cells, name, state }) => lineOf(cells, name, (text) => styleText(COLOURS[state], text))),
  ];
}

interface ShownColumn {
  readonly index: number;
  readonly widest: number;
}

function fitting(columns: readonly Column[], rows: readonly Row[], width: number): readonly ShownColumn[] {
  const longest = rows.reduce((widest, { name }) => Math.max(widest, widthOf(name)), NAME.length);
  const least = Math.min(longest, LEAST_NAME);
  let shown = columns.map(({ title, givesWay }, index) => ({
    index,
    givesWay,
    widest: rows.reduce((most, { cells }) => Math.max(most, cells[index]?.length ?? 0), title.length),
  }));
  for (let first = 1; first <= columns.length && takenBy(shown) + least > width; first += 1)
    shown = shown.filter(({ givesWay }) => givesWay !== first);
  return shown;
}

function takenBy(shown: readonly ShownColumn[]): number {
  return shown.reduce((sum, { widest }) => sum + widest + GAP.length, 0);
}

function plain(text: string): string {
  return text;
}
