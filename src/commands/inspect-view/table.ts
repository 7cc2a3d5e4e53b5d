import { styleText } from 'node:util';
import type { ConfFacts } from '../../core/fluent-conf/facts.ts';
import type { Found, FoundPosFile, Totals } from '../../core/inspect/found.ts';
import { byLag, inStates, shareRead } from '../../core/inspect/order.ts';
import { summaryOf } from '../../core/inspect/summary.ts';
import type { FileState } from '../../core/look/file-state.ts';
import { whyUnparsable } from '../../core/pos-file/pos-file.ts';
import { printable } from '../../core/text/printable.ts';
import { shortenMiddle, wrap } from '../../core/text/text-width.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';
import { COLUMNS, layOut, rowOf } from './columns.ts';
import { witnessLines } from './witness-lines.ts';

export interface View {
  readonly states: readonly FileState[] | undefined;
  /** Infinity without a terminal. */
  readonly width: number;
  readonly conf: ConfFacts | undefined;
  readonly notes: readonly string[];
}

const MOST_DEFECTS = 20;
const INDENT = '  ';

/** The report for people: one table for each pos file, then notes, then one sentence. */
export function tableLines(found: Found, view: View): readonly string[] {
  const { width } = view;
  return [
    ...found.posFiles.flatMap((posFile) => posFileLines(posFile, view, found.seen.at)),
    ...undiscoveredLines(found, view),
    ...[...witnessLines(found), ...closingLines(found, view)].flatMap((line) => wrap(line, width)),
    ...wrap(summaryOf(found), width).map((line) => styleText(found.caughtUp ? 'green' : 'bold', line)),
  ];
}

function posFileLines(posFile: FoundPosFile, view: View, at: Millis): readonly string[] {
  const { path, error, age, files } = posFile;
  const { width } = view;
  const written = Number.isFinite(age) && error === undefined ? `  written ${formatDuration(age)} ago` : '';
  const name = shortenMiddle(printable(path), width - written.length);
  const defects = defectsOf(posFile).flatMap((line) => wrap(line, width - INDENT.length));
  return [
    styleText('bold', name) + styleText('dim', written),
    ...rowsOf(files, view, at),
    ...defects.map((line) => styleText('red', INDENT + line)),
    '',
  ];
}

/** The rows with a title line, or nothing without rows. */
function rowsOf(
  files: readonly FoundPosFile['files'][number][],
  { states, width }: View,
  at: Millis,
): readonly string[] {
  const rows = byLag(inStates(files, states)).map((file) => rowOf(file, at));
  return rows.length === 0 ? [] : layOut(COLUMNS, rows, width - INDENT.length).map((line) => INDENT + line);
}

export function defectsOf(posFile: FoundPosFile): readonly string[] {
  const { error, isEmpty, unparsable, findings, troubles } = posFile;
  const bad = unparsable.map(
    (one) => `line ${one.line} cannot be parsed, ${whyUnparsable(one)}: ${one.text.slice(0, 200)}`,
  );
  const unseen = troubles.map((trouble) => `cannot look at ${trouble.path}: ${trouble.error}`);
  return [
    ...(error === undefined ? [] : [isEmpty ? error : `cannot be inspected: ${error}`]),
    ...someOf(bad, 'unparsable line'),
    ...findings.map(({ why }) => why),
    ...someOf(unseen, 'such file'),
  ].map(printable);
}

function someOf(lines: readonly string[], noun: string): readonly string[] {
  const more = lines.length - MOST_DEFECTS;
  return more > 0 ? [...lines.slice(0, MOST_DEFECTS), `and ${counted(more, `more ${noun}`)}`] : lines;
}

function undiscoveredLines({ undiscovered, refreshInterval, seen }: Found, view: View): readonly string[] {
  const [, ...rows] = rowsOf(undiscovered, view, seen.at);
  if (rows.length === 0) return [];
  const title = `undiscovered: ${counted(rows.length, 'file')}; in_tail looks for new ones every ${formatDuration(refreshInterval)}`;
  return [...wrap(title, view.width).map((line) => styleText('bold', line)), ...rows, ''];
}

function closingLines(found: Found, view: View): readonly string[] {
  const { totals } = found;
  return [
    ...[...view.notes, ...found.seen.unlisted].map((note) => `note: ${printable(note)}`),
    ...buffersIn(found, view.conf),
    `total: ${counted(totals.files, 'file')}${sumOf(totals)}`,
  ];
}

function sumOf({ files, unknown, size, lag }: Totals): string {
  if (files === 0) return '';
  if (unknown === files) return ', lag unknown';
  if (unknown > 0) return `, at least ${formatBytes(lag)} left; lag unknown for ${counted(unknown, 'file')}`;
  const read = Math.floor(shareRead(size, lag) * 100);
  return `, ${formatBytes(size)}, ${read}% read, ${formatBytes(lag)} left`;
}

/** One line about the buffers, or nothing without a configuration. */
function buffersIn({ seen: { buffers } }: Found, conf: ConfFacts | undefined): readonly string[] {
  if (buffers === undefined || conf === undefined) return [];
  const chunks = buffers.outputs.flatMap((output) => output.chunks);
  const bytes = chunks.reduce((sum, { size }) => sum + size, 0);
  const onDisk =
    chunks.length === 0
      ? 'no chunk on disk'
      : `${counted(chunks.length, 'chunk')} (${formatBytes(bytes)}) on disk`;
  const unseen = buffers.unseen.length === 0 ? '' : `; not seen: ${buffers.unseen.join(', ')}`;
  return [`buffers: ${onDisk}${printable(unseen)}`];
}
