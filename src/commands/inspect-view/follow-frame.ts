import { styleText } from 'node:util';
import { byLag, type Found, filesIn } from '../../core/inspect/found.ts';
import { summaryOf } from '../../core/inspect/summary.ts';
import type { ObservedFile } from '../../core/look/observation.ts';
import { printable } from '../../core/text/printable.ts';
import { shortenMiddle, wrap } from '../../core/text/text-width.ts';
import { counted, formatAge, formatBytes, formatDuration } from '../../core/text/units.ts';
import { COLUMNS, layOut, type Row, rowOf } from './columns.ts';
import { defectsOf } from './table.ts';
import { outputLines } from './witness-lines.ts';

const MOST_DEFECTS = 3;
const MOST_OUTPUTS = 3;
const LOG_TELLS = "Fluentd's log tells why: a full buffer, a destination that does not answer, a read limit";
const PACE_COLUMNS = [...COLUMNS, 'OLDEST', 'RATE', 'ETA'];

/** One frame of --follow. It fits into the terminal, and the file with the largest lag comes first. */
export function frameOf(
  found: Found,
  { rows, columns, at }: { readonly rows: number; readonly columns: number; readonly at: Date },
): readonly string[] {
  const clock = `${at.toISOString().slice(11, 19)}Z  `;
  const names = found.posFiles.map(({ path }) => printable(path)).join(', ');
  const defects = found.posFiles.flatMap(defectsOf).slice(0, MOST_DEFECTS);
  const above = [
    clock + shortenMiddle(names, columns - clock.length),
    ...[...headOf(found), ...outputLines(found).slice(0, MOST_OUTPUTS)].flatMap((line) =>
      wrap(line, columns),
    ),
    ...defects.flatMap((line) => wrap(line, columns)).map((line) => styleText('red', line)),
  ];
  const files = byLag([...found.seen.undiscovered, ...filesIn(found)]);
  const shown = files.slice(0, Math.max(0, rows - above.length - 2));
  const more = files.length - shown.length;
  return [
    ...above,
    ...layOut(PACE_COLUMNS, shown, (file) => paceRow(file, found), columns),
    ...(more === 0 ? [] : [styleText('dim', `and ${counted(more, 'more file')}`)]),
  ].slice(0, rows);
}

function headOf(found: Found): readonly string[] {
  const { rate = null, eta = null } = found.rates?.total.pace() ?? {};
  const blocked = filesIn(found).find(({ state }) => state === 'blocked');
  const speed = rate === null ? '' : `, read at ${formatBytes(Math.round(rate))}/s`;
  const rest = eta === null ? '' : `, about ${formatDuration(eta)} to go`;
  return [
    summaryOf(found),
    ...(blocked === undefined ? [] : [printable(`${blocked.path} stands still: ${LOG_TELLS}`)]),
    `lag ${formatBytes(found.totals.lag)}${speed}${rest}`,
  ];
}

function paceRow(file: ObservedFile, { seen, rates }: Found): Row {
  const { cells, ...rest } = rowOf(file, seen.at);
  const { rate = null, eta = null } = rates?.of(file.key)?.pace() ?? {};
  const oldest = rates?.oldestUnread(file.key) ?? null;
  return {
    ...rest,
    cells: [
      ...cells,
      oldest === null ? '-' : formatAge(oldest),
      rate === null ? '-' : `${formatBytes(Math.round(rate))}/s`,
      eta === null ? '-' : formatDuration(eta),
    ],
  };
}
