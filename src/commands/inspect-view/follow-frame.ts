import type { Followed, History } from '../../core/inspect/history.ts';
import { type SteadyOrder, undiscoveredOf } from '../../core/inspect/order.ts';
import type { Overview, Place, UndiscoveredOverview } from '../../core/inspect/overview.ts';
import { summaryOf } from '../../core/inspect/overview.ts';
import type { Track } from '../../core/inspect/track.ts';
import { formatAge } from '../../core/text/age.ts';
import { podNameOf } from '../../core/text/container-log.ts';
import { printable } from '../../core/text/printable.ts';
import { sparkline } from '../../core/text/sparkline.ts';
import { shortenEnd, widthOf, wrap } from '../../core/text/text-width.ts';
import { formatBytes, formatDuration } from '../../core/text/units.ts';
import { COLUMNS, cellsOf, undiscoveredCells } from './cells.ts';
import { type Cells, type Column, Layout } from './columns.ts';
import { fileLines, findOpened, type Listed, type Opened, openedOf, verdictLines } from './follow-file.ts';
import { HELP, type Wishes } from './follow-keys.ts';
import type { View } from './table.ts';

/** What the user has made of the live view, and what was seen so far. */
export interface Live extends Wishes {
  readonly total: Track;
  readonly history: History;
  readonly order: SteadyOrder;
  readonly at: Date;
  /** The file that enter has opened. */
  readonly opened: Opened | undefined;
}

export interface Size {
  readonly rows: number;
  readonly columns: number;
  readonly view: View;
}

const TREND = 10;
/** Lines that say why. */
const MOST_WHY = 3;
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
  /** So many rows have room. */
  readonly page: number;
  readonly chosen: number;
  /** The file in the chosen row. */
  readonly file: Opened | undefined;
}

/** One picture. Where it is low, what stands above the rows gives way to one of them, from below. */
export function frameOf(found: Overview, live: Live, { rows, columns, view }: Size): Frame {
  const { style } = view;
  const cut = (line: string, paint = (text: string) => text) => paint(shortenEnd(line, columns));
  const head = headOf(found, live, columns).map((line, index) =>
    cut(line, index === 0 ? style.bold : undefined),
  );
  const errors = errorsOf(found)
    .slice(0, 3)
    .map((line) => cut(line, style.bad));
  const above = Math.min(head.length + errors.length + 1, Math.max(0, rows - 2));
  const page = Math.max(0, rows - above - 1);
  const shown = rowsOf(found, live, view, page);
  const layout = new Layout(LIVE_COLUMNS, shown.cells, columns - MARK.length);
  const files = [
    ...[...head, ...errors, style.dim(UNMARKED + layout.title())].slice(0, above),
    ...shown.cells.map(
      (row, index) => (shown.first + index === shown.chosen ? MARK : UNMARKED) + layout.row(row, style),
    ),
  ];
  const lines = pageOf(found, live, { rows, columns, view }) ?? files;
  const filling = Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => '');
  const { first: top, chosen, file } = shown;
  return {
    lines: [...lines.slice(0, Math.max(0, rows - 1)), ...filling, cut(footOf(live, shown), style.dim)],
    ...{ top, page, chosen, file },
  };
}

const MARK = '› ';
const UNMARKED = ' '.repeat(MARK.length);

/** What is shown in place of the files. */
function pageOf(found: Overview, { shows, opened, history }: Live, { columns, view }: Size) {
  const fitting = (lines: Iterable<string>) => [...lines].flatMap((line) => wrap(line, columns));
  if (shows === 'help') return fitting(HELP);
  if (shows !== 'file' || opened === undefined) return undefined;
  const one = findOpened(found, opened);
  if (one === undefined) return fitting([`${printable(opened.path)} has gone`]);
  return fitting(fileLines(found, one, { history, view, columns }));
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
    ...verdictLines(found.verdict).flatMap((line) => wrap(line, columns).slice(0, MOST_WHY)),
    left + sparkline(lags, Math.max(0, Math.min(lags.length, columns - widthOf(left)))),
  ];
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
  readonly chosen: number;
  readonly file: Opened | undefined;
  readonly all: number;
}

/** Only what fits is made up: there may be 10,000 files. Undiscovered ones come first, they have all of it left. */
function rowsOf(found: Overview, live: Live, view: View, room: number): Shown {
  const which = { states: view.states, sort: live.sort };
  const places = live.order.places(found, which, live.at.getTime());
  const listed: readonly Listed[] = [...undiscoveredOf(found, view), ...places];
  const wanted =
    live.filter === '' ? listed : listed.filter((one) => isNamed(one, live.filter.toLowerCase()));
  const all = live.reversed ? wanted.toReversed() : wanted;
  const chosen = Math.max(0, Math.min(live.chosen, all.length - 1));
  const seen = Math.max(Math.min(live.top, chosen), chosen - room + 1);
  const first = Math.max(0, Math.min(seen, all.length - room));
  const cells = all
    .slice(first, first + room)
    .map((one) => ('row' in one ? liveCells(one, live.history) : newCells(one)));
  const one = all[chosen];
  return { cells, first, chosen, file: one && openedOf(one), all: all.length };
}

function isNamed(one: Listed, part: string): boolean {
  const path = 'row' in one ? one.posFile.entries.rows.path(one.row) : one.path;
  return `${path} ${podNameOf(path)?.name ?? ''}`.toLowerCase().includes(part);
}

function liveCells({ posFile, row }: Place, history: History): Cells {
  const entry = posFile.entries.at(row);
  const { cells, ...rest } = cellsOf(entry);
  const followed = history.find(posFile.path, entry);
  return { ...rest, cells: [...cells, ...paceCells(followed)] };
}

function newCells(file: UndiscoveredOverview): Cells {
  const { cells, ...rest } = undiscoveredCells(file);
  return { ...rest, cells: [...cells, '?', '-', '-', ''] };
}

/** What was left at the first look has waited for longer than the view has looked. */
function lateness(followed: Followed): string {
  const { late } = followed;
  if (late === 0) return '-';
  return late === null ? `>${formatAge(followed.waited)}` : formatAge(late);
}

function paceCells(followed: Followed | undefined): readonly string[] {
  if (followed === undefined) return ['?', '-', '-', ''];
  const { rate, eta, lags } = followed.pace();
  return [
    lateness(followed),
    rate === null ? '-' : `${formatBytes(Math.round(rate))}/s`,
    eta === null ? '-' : formatDuration(eta),
    sparkline(lags, TREND).padStart(TREND),
  ];
}

function footOf({ sort, reversed, paused, filter, shows }: Live, shown: Shown): string {
  if (shows === 'filter') return `/${filter}▏ enter keep · esc show all · ${rangeOf(shown)}`;
  if (shows !== 'files') return 'any key: back · q quit';
  const order = `${sort}${reversed ? ' reversed' : ''}`;
  const named = filter === '' ? '/ filter' : `/${filter} esc all`;
  return `q quit · ? help · s sort (${order}) · ${named} · ${paused ? 'space go on · ' : ''}${rangeOf(shown)}`;
}

function rangeOf({ first, cells, all }: Shown): string {
  if (all === 0) return 'no entries';
  return cells.length === 0 ? `0 of ${all}` : `${first + 1}–${first + cells.length} of ${all}`;
}
