import { type Found, filesIn, type ShownFile } from '../../core/inspect/found.ts';
import { ordered } from '../../core/inspect/order.ts';
import type { FilePace } from '../../core/inspect/paces.ts';
import { summaryOf } from '../../core/inspect/summary.ts';
import { type Verdict, verdictsOf } from '../../core/inspect/verdict.ts';
import { formatAge } from '../../core/text/age.ts';
import { withPodNames } from '../../core/text/container-log.ts';
import { printable } from '../../core/text/printable.ts';
import { shortenEnd, wrap } from '../../core/text/text-width.ts';
import { counted, formatBytes, formatDuration } from '../../core/text/units.ts';
import { COLUMNS, cellsOf } from './cells.ts';
import { type Cells, type Column, Layout } from './columns.ts';
import type { View } from './table.ts';

/** Lines that say why. */
const MOST_WHY = 3;
const MOST_ERRORS = 3;
const PACE_COLUMNS: readonly Column[] = [
  ...COLUMNS,
  { title: 'LATE', align: 'right', givesWay: 8 },
  { title: 'RATE', align: 'right', givesWay: 7 },
  { title: 'ETA', align: 'right', givesWay: 6 },
];

/** One picture: no more lines, and none longer, than the terminal shows. What is furthest behind comes first. */
export function frameOf(
  found: Found,
  view: View,
  { rows, columns, at }: { readonly rows: number; readonly columns: number; readonly at: Date },
): readonly string[] {
  const { style } = view;
  const above = [...headOf(found, columns, at), ...errorsOf(found).slice(0, MOST_ERRORS).map(style.bad)];
  const files = ordered([...found.undiscovered, ...filesIn(found)], view);
  const room = Math.max(0, rows - above.length - 2);
  const shown = files.slice(0, room).map((file) => paceCells(file, found));
  const layout = new Layout(PACE_COLUMNS, shown, columns);
  const more = files.length - shown.length;
  return [
    ...above.map((line) => shortenEnd(line, columns)),
    style.dim(layout.title()),
    ...shown.map((row) => layout.row(row, style)),
    ...(more === 0 ? [] : [style.dim(`and ${counted(more, 'more file')}`)]),
  ].slice(0, rows);
}

function headOf(found: Found, columns: number, at: Date): readonly string[] {
  const { rate = null, eta = null } = found.judged?.paces?.total.pace() ?? {};
  const names = found.posFiles.map(({ path }) => printable(path)).join(', ');
  const speed = rate === null ? '' : `, read at ${formatBytes(Math.round(rate))}/s`;
  const rest = eta === null ? '' : `, about ${formatDuration(eta)} to go`;
  return [
    `${at.toISOString().slice(11, 19)}Z  ${names}`,
    summaryOf(found),
    ...verdictLines(verdictsOf(found)?.worst).flatMap((line) => wrap(line, columns).slice(0, MOST_WHY)),
    `lag ${formatBytes(found.totals.lag)}${speed}${rest}`,
  ];
}

/** What is not as it should be. */
function verdictLines(verdict: Verdict | undefined): readonly string[] {
  return verdict === undefined || verdict.is === 'ok'
    ? []
    : [withPodNames(printable(`${verdict.is}: ${verdict.why}`))];
}

function errorsOf({ posFiles }: Found): readonly string[] {
  return posFiles.flatMap(({ path, error, unparsable, troubles }) => [
    ...(error === undefined ? [] : [`${printable(path)}: ${printable(error)}`]),
    ...(unparsable.length === 0 ? [] : [`${printable(path)}: ${unparsable.length} unparsable`]),
    ...troubles.map((trouble) => `${printable(trouble.path)}: ${printable(trouble.error)}`),
  ]);
}

function paceCells(file: ShownFile, { at, judged }: Found): Cells {
  const { cells, ...rest } = cellsOf(file, at);
  const pace = judged?.paces?.of(file.key);
  const { rate = null, eta = null } = pace?.pace() ?? {};
  return {
    ...rest,
    cells: [
      ...cells,
      pace === undefined ? '?' : lateness(pace),
      rate === null ? '-' : `${formatBytes(Math.round(rate))}/s`,
      eta === null ? '-' : formatDuration(eta),
    ],
  };
}

/** What was left at the first look has waited for longer than posidle has looked. */
function lateness({ late, waited }: FilePace): string {
  if (late === 0) return '-';
  return late === null ? `>${formatAge(waited)}` : formatAge(late);
}
