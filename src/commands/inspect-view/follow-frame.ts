import { type Found, filesIn, type ShownFile } from '../../core/inspect/found.ts';
import type { SteadyOrder } from '../../core/inspect/order.ts';
import type { FilePace } from '../../core/inspect/paces.ts';
import { summaryOf } from '../../core/inspect/summary.ts';
import { verdictsOf } from '../../core/inspect/verdict.ts';
import { formatAge } from '../../core/text/age.ts';
import { podNameOf } from '../../core/text/container-log.ts';
import { printable } from '../../core/text/printable.ts';
import { sparkline } from '../../core/text/sparkline.ts';
import { shortenEnd, widthOf, wrap } from '../../core/text/text-width.ts';
import { formatBytes, formatDuration } from '../../core/text/units.ts';
import { COLUMNS, cellsOf } from './cells.ts';
import { type Cells, type Column, Layout } from './columns.ts';
import { fileLines, verdictLines } from './follow-file.ts';
import { HELP, type Wishes } from './follow-keys.ts';
import type { View } from './table.ts';

/** What the user has made of the live view, and what was seen so far. */
export interface Live extends Wishes {
  readonly order: SteadyOrder;
  readonly at: Date;
  /** The file that enter has opened. */
  readonly opened: ShownFile | undefined;
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
  readonly file: ShownFile | undefined;
}

/** One picture. Where it is low, what stands above the rows gives way to one of them, from below. */
export function frameOf(found: Found, live: Live, { rows, columns, view }: Size): Frame {
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
function pageOf(found: Found, { shows, opened }: Live, { columns, view }: Size) {
  const fitting = (lines: Iterable<string>) => [...lines].flatMap((line) => wrap(line, columns));
  if (shows === 'help') return fitting(HELP);
  if (shows !== 'file' || opened === undefined) return undefined;
  const one = allIn(found).find(({ key }) => key === opened.key);
  if (one === undefined) return fitting([`${printable(opened.path)} has gone`]);
  return fitting(fileLines(found, one, view, columns));
}

function headOf(found: Found, live: Live, columns: number): readonly string[] {
  const { rate = null, eta = null, lags = [] } = found.judged?.paces?.total.pace() ?? {};
  const names = found.posFiles.map(({ path }) => printable(path)).join(', ');
  const clock = live.at.toISOString().slice(11, 19);
  const speed = rate === null ? '' : `read at ${formatBytes(Math.round(rate))}/s`;
  const rest = eta === null ? '' : `, about ${formatDuration(eta)} to go`;
  const left = `lag ${formatBytes(found.totals.lag)}  ${speed}${rest}  `;
  return [
    `${clock}Z${live.paused ? ' PAUSED' : ''}  posidle inspect  ${names}`,
    summaryOf(found),
    ...verdictLines(verdictsOf(found)?.worst).flatMap((line) => wrap(line, columns).slice(0, MOST_WHY)),
    left + sparkline(lags, Math.max(0, Math.min(lags.length, columns - widthOf(left)))),
  ];
}

function errorsOf({ posFiles }: Found): readonly string[] {
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
  readonly file: ShownFile | undefined;
  readonly all: number;
}

function allIn(found: Found): readonly ShownFile[] {
  return [...found.undiscovered, ...filesIn(found)];
}

/** Only what fits is made up: there may be 10,000 files. */
function rowsOf(found: Found, live: Live, view: View, room: number): Shown {
  const which = { states: view.states, sort: live.sort };
  const files = live.order.of(allIn(found), which, live.at.getTime());
  const wanted = live.filter === '' ? files : files.filter((one) => isNamed(one, live.filter.toLowerCase()));
  const all = live.reversed ? wanted.toReversed() : wanted;
  const chosen = Math.max(0, Math.min(live.chosen, all.length - 1));
  const seen = Math.max(Math.min(live.top, chosen), chosen - room + 1);
  const first = Math.max(0, Math.min(seen, all.length - room));
  const cells = all.slice(first, first + room).map((file) => liveCells(file, found));
  return { cells, first, chosen, file: all[chosen], all: all.length };
}

function isNamed({ path }: ShownFile, part: string): boolean {
  return `${path} ${podNameOf(path)?.name ?? ''}`.toLowerCase().includes(part);
}

function liveCells(file: ShownFile, { at, judged }: Found): Cells {
  const { cells, ...rest } = cellsOf(file, at);
  return { ...rest, cells: [...cells, ...paceCells(judged?.paces?.of(file.key))] };
}

/** What was left at the first look has waited for longer than the view has looked. */
function lateness(pace: FilePace): string {
  const { late } = pace;
  if (late === 0) return '-';
  return late === null ? `>${formatAge(pace.waited)}` : formatAge(late);
}

function paceCells(pace: FilePace | undefined): readonly string[] {
  if (pace === undefined) return ['?', '-', '-', ''];
  const { rate, eta, lags } = pace.pace();
  return [
    lateness(pace),
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
