import type { History, Pace, Track } from '../../core/inspect/history.ts';
import { type Place, type SortKey, type SteadyOrder, undiscoveredOf } from '../../core/inspect/order.ts';
import type { Overview, UndiscoveredOverview } from '../../core/inspect/overview.ts';
import { summaryOf } from '../../core/inspect/overview.ts';
import { formatAge } from '../../core/text/age.ts';
import { printable } from '../../core/text/printable.ts';
import { sparkline } from '../../core/text/sparkline.ts';
import { shortenEnd, widthOf } from '../../core/text/text-width.ts';
import { formatBytes, formatDuration } from '../../core/text/units.ts';
import { COLUMNS, cellsOf, undiscoveredCells } from './cells.ts';
import { type Cells, type Column, Layout } from './columns.ts';
import type { View } from './table.ts';

/** What the user has made of the live view, and when it was taken. */
export interface Live {
  readonly sort: SortKey;
  readonly paused: boolean;
  /** The first row that is shown. */
  readonly top: number;
  readonly total: Track;
  readonly order: SteadyOrder;
  readonly at: Date;
  readonly interval: number;
}

export interface Size {
  readonly rows: number;
  readonly columns: number;
  readonly view: View;
}

const TREND = 10;
const LIVE_COLUMNS: readonly Column[] = [
  ...COLUMNS,
  { title: 'LATE', align: 'right', givesWay: 9 },
  { title: 'RATE', align: 'right', givesWay: 8 },
  { title: 'ETA', align: 'right', givesWay: 7 },
  { title: 'TREND', align: 'left', givesWay: 6 },
];

export interface Frame {
  /** No more of them, and none longer, than the terminal can show. */
  readonly lines: readonly string[];
  /** The first row that is shown: never so far down that room is left below the last. */
  readonly top: number;
}

/** One picture. Where it is low, what stands above the rows gives way to one of them, from below. */
export function frameOf(
  found: Overview,
  live: Live & { readonly history: History },
  { rows, columns, view }: Size,
): Frame {
  const { style } = view;
  const cut = (line: string, paint = (text: string) => text) => paint(shortenEnd(line, columns));
  const head = headOf(found, live, columns).map((line, index) =>
    cut(line, index === 0 ? style.bold : undefined),
  );
  const errors = errorsOf(found)
    .slice(0, 3)
    .map((line) => cut(line, style.bad));
  const above = Math.min(head.length + errors.length + 1, Math.max(0, rows - 2));
  const shown = rowsOf(found, live, view, Math.max(0, rows - above - 1));
  const layout = new Layout(LIVE_COLUMNS, shown.cells, columns);
  const lines = [
    ...[...head, ...errors, style.dim(layout.title())].slice(0, above),
    ...shown.cells.map((row) => layout.row(row, style)),
  ];
  const filling = Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => '');
  return { lines: [...lines, ...filling, cut(footOf(live, shown), style.dim)], top: shown.first };
}

function headOf(found: Overview, live: Live, columns: number): readonly string[] {
  const { rate, eta, lags } = live.total.pace();
  const names = found.posFiles.map(({ path }) => printable(path)).join(', ');
  const clock = live.at.toISOString().slice(11, 19);
  const speed = rate === null ? '' : `read at ${formatBytes(Math.round(rate))}/s`;
  const rest = eta === null ? '' : `, about ${formatDuration(eta)} to go`;
  const left = `lag ${formatBytes(found.totals.lag)}  ${speed}${rest}  `;
  return [
    `${clock}Z${live.paused ? ' PAUSED' : ''}  posidle inspect  ${names}`,
    summaryOf(found),
    ...verdictLines(found),
    left + sparkline(lags, Math.max(0, Math.min(lags.length, columns - widthOf(left)))),
  ];
}

/** What is not as it should be. */
function verdictLines({ verdict }: Overview): readonly string[] {
  return verdict === undefined || verdict.is === 'ok' ? [] : [printable(`${verdict.is}: ${verdict.why}`)];
}

function errorsOf({ posFiles }: Overview): readonly string[] {
  return posFiles.flatMap(({ path, error, unparsable, troubles }) => [
    ...(error === undefined ? [] : [`${printable(path)}: ${printable(error)}`]),
    ...(unparsable.length === 0 ? [] : [`${printable(path)}: ${unparsable.length} unparsable`]),
    ...troubles.map((trouble) => `${printable(trouble.path)}: ${printable(trouble.error)}`),
  ]);
}

interface Shown {
  readonly cells: readonly Cells[];
  readonly first: number;
  readonly all: number;
}

/** Only what fits is made up: there may be 10,000 files. Undiscovered ones come first, they have all of it left. */
function rowsOf(
  found: Overview,
  live: Live & { readonly history: History },
  view: View,
  room: number,
): Shown {
  const which = { states: view.states, sort: live.sort };
  const places = live.order.places(found, which, live.at.getTime());
  const all: readonly (Place | UndiscoveredOverview)[] = [...undiscoveredOf(found, view), ...places];
  const first = Math.max(0, Math.min(live.top, all.length - room));
  const cells = all
    .slice(first, first + room)
    .map((one) => ('row' in one ? liveCells(one, live.history) : newCells(one)));
  return { cells, first, all: all.length };
}

function liveCells({ posFile, row }: Place, history: History): Cells {
  const entry = posFile.entries.at(row);
  const { cells, ...rest } = cellsOf(entry);
  const pace = history.pace(posFile.path, entry);
  return { ...rest, cells: [...cells, ...paceCells(pace)] };
}

function newCells(file: UndiscoveredOverview): Cells {
  const { cells, ...rest } = undiscoveredCells(file);
  return { ...rest, cells: [...cells, '?', '-', '-', ''] };
}

function paceCells({ rate, eta, lags, late }: Pace): readonly string[] {
  return [
    late === null ? '?' : late === 0 ? '-' : formatAge(late),
    rate === null ? '-' : `${formatBytes(Math.round(rate))}/s`,
    eta === null ? '-' : formatDuration(eta),
    sparkline(lags, TREND).padStart(TREND),
  ];
}

function footOf({ sort, paused }: Live, shown: Shown): string {
  return `q quit · s sort (${sort}) · space ${paused ? 'go on' : 'pause'} · ↑↓ scroll · ${rangeOf(shown)}`;
}

function rangeOf({ first, cells, all }: Shown): string {
  if (all === 0) return 'no entries';
  return cells.length === 0 ? `0 of ${all}` : `${first + 1}–${first + cells.length} of ${all}`;
}
