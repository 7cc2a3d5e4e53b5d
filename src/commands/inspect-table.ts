import type { InspectedPosFile, Inspection } from '../core/inspection.ts';
import { printable } from '../core/printable.ts';
import { counted, formatBytes } from '../core/units.ts';

/** The inspection for people: a table a pos file, then what is wrong, then one sentence. */
export function renderInspection(inspection: Inspection): string {
  const parts = [...inspection.posFiles.map(renderPosFile), verdictOf(inspection)];
  return `${parts.join('\n\n')}\n`;
}

function renderPosFile({ path, entries, unparsable, error }: InspectedPosFile): string {
  const rows = entries
    .toSorted((a, b) => (b.lag ?? Number.MAX_VALUE) - (a.lag ?? Number.MAX_VALUE))
    .map(({ path, state, position, size, lag, inode }) => [
      state,
      bytesOrUnknown(lag),
      String(position ?? '-'),
      String(size ?? '?'),
      inode,
      printable(path),
    ]);
  const table =
    rows.length === 0 ? [] : alignColumns([['STATE', 'LEFT', 'POSITION', 'SIZE', 'INODE', 'FILE'], ...rows]);
  const bad = unparsable.map(({ line, text }) => `line ${line} cannot be parsed: ${printable(text)}`);
  const broken = error === undefined ? [] : [`cannot be inspected: ${printable(error)}`];
  return [printable(path), ...[...broken, ...table, ...bad].map((line) => `  ${line}`)].join('\n');
}

const NUMERIC = new Set([1, 2, 3, 4]);

function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, (row[column] ?? '').length), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        NUMERIC.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

function bytesOrUnknown(count: number | null): string {
  return count === null ? '?' : formatBytes(count);
}

/** `behind by 12.4 MiB in 2 of 31 files`. */
export function verdictOf({ posFiles, lag, caughtUp }: Inspection): string {
  const entries = posFiles.flatMap((posFile) => posFile.entries);
  const left = entries.filter((entry) => entry.lag !== 0);
  const errors = posFiles.filter(({ error }) => error !== undefined).length;
  const unknown = errors === 0 ? '' : `; ${counted(errors, 'pos file')} cannot be judged`;
  if (left.length === 0)
    return `${caughtUp ? 'caught up' : 'nothing is known to be left'}: ${counted(entries.length, 'file')}${unknown}`;
  const bytes = left.reduce((sum, entry) => sum + (entry.lag ?? 0), 0);
  const how = caughtUp ? 'caught up, but for unfinished last lines of' : 'behind by';
  return `${how} ${lag === null ? 'at least ' : ''}${formatBytes(bytes)} in ${left.length} of ${counted(entries.length, 'file')}${unknown}`;
}
