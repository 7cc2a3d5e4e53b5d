import { styleText } from 'node:util';
import type { FluentConf } from '../../core/fluent-conf/fluent-conf.ts';
import { tailFacts } from '../../core/fluent-conf/tail.ts';
import { byLag, type Found, type FoundPosFile, shareRead, type Totals } from '../../core/inspect/found.ts';
import { summaryOf } from '../../core/inspect/summary.ts';
import { whyUnparsable } from '../../core/pos-file/pos-file.ts';
import { groupedBy } from '../../core/text/lists.ts';
import { printable } from '../../core/text/printable.ts';
import { shortenMiddle, wrap } from '../../core/text/text-width.ts';
import { andMore, counted, formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';
import { isAnyAlive } from '../../core/witness/reports.ts';
import { COLUMNS, layOut, rowOf } from './columns.ts';
import { witnessLines } from './witness-lines.ts';

export interface View {
  /** Infinity without a terminal. */
  readonly width: number;
  readonly conf: FluentConf | undefined;
  readonly notes: readonly string[];
}

const MOST_DEFECTS = 20;
const INDENT = '  ';

/** The report for people: one table for each pos file, then notes, then one sentence. */
export function* tableLines(found: Found, view: View): Generator<string> {
  const { width } = view;
  // Pos files without entries differ only in their reason.
  const keyOf = (posFile: FoundPosFile) =>
    posFile.files.length > 0 ? posFile.path : defectsOf(posFile).join('\n');
  for (const alike of groupedBy(found.posFiles, keyOf).values())
    yield* posFileLines(alike, view, found.seen.at);
  yield* undiscoveredLines(found, view);
  for (const line of [...witnessLines(found), ...closingLines(found, view)]) yield* wrap(line, width);
  for (const line of wrap(summaryOf(found), width)) yield styleText(found.caughtUp ? 'green' : 'bold', line);
}

/** `alike`: one pos file, or several without entries and with the same reason. */
function* posFileLines(alike: readonly FoundPosFile[], view: View, at: Millis): Generator<string> {
  const [posFile] = alike;
  if (posFile === undefined) return;
  const { error, age, files } = posFile;
  const { width } = view;
  const written = Number.isFinite(age) && error === undefined ? `  written ${formatDuration(age)} ago` : '';
  const paths = andMore(alike.map(({ path }) => path));
  const name = shortenMiddle(printable(paths), width - written.length);
  yield styleText('bold', name) + styleText('dim', written);
  yield* rowsOf(files, view, at);
  for (const line of defectsOf(posFile).flatMap((text) => wrap(text, width - INDENT.length)))
    yield styleText('red', INDENT + line);
  yield '';
}

/** The rows with a title line, or nothing without files. */
function* rowsOf(files: FoundPosFile['files'], { width }: View, at: Millis): Generator<string> {
  if (files.length === 0) return;
  const rows = layOut(COLUMNS, byLag(files), (file) => rowOf(file, at), width - INDENT.length);
  for (const row of rows) yield INDENT + row;
}

export function defectsOf(posFile: FoundPosFile): readonly string[] {
  const { files, error, unparsable, findings, troubles } = posFile;
  const nothing = files.length + unparsable.length === 0 ? ['no entry: in_tail has found no log'] : [];
  const bad = unparsable.map((one) => {
    const text = one.text.replace(/\0{2,}/g, '\0…').slice(0, 200);
    return `line ${one.line} cannot be parsed, ${whyUnparsable(one)}: ${text}`;
  });
  const unseen = troubles.map((trouble) => `cannot look at ${trouble.path}: ${trouble.error}`);
  return [
    ...(error === undefined ? nothing : [error]),
    ...someOf(bad, 'unparsable line'),
    ...findings.map(({ why }) => why),
    ...someOf(unseen, 'such file'),
  ].map(printable);
}

function someOf(lines: readonly string[], noun: string): readonly string[] {
  const more = lines.length - MOST_DEFECTS;
  return more > 0 ? [...lines.slice(0, MOST_DEFECTS), `and ${counted(more, `more ${noun}`)}`] : lines;
}

function* undiscoveredLines({ seen }: Found, view: View): Generator<string> {
  const { undiscovered: files } = seen;
  if (files.length === 0) return;
  const { conf } = view;
  const often = conf && formatDuration(tailFacts(conf.sources).refreshInterval);
  const pace = often === undefined ? '' : `; in_tail looks for new ones every ${often}`;
  const title = `undiscovered: ${counted(files.length, 'file')}${pace}`;
  for (const line of wrap(title, view.width)) yield styleText('bold', line);
  const [, ...rows] = rowsOf(files, view, seen.at);
  yield* rows;
  yield '';
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

/** One line about the buffers, or nothing without a configuration, or where the witness tells of each. */
function buffersIn({ seen: { buffers, reports } }: Found, conf: FluentConf | undefined): readonly string[] {
  if (buffers === undefined || conf === undefined || (reports && isAnyAlive(reports))) return [];
  const chunks = buffers.outputs.flatMap((output) => output.chunks);
  const bytes = chunks.reduce((sum, { size }) => sum + size, 0);
  const onDisk =
    chunks.length === 0
      ? 'no chunk on disk'
      : `${counted(chunks.length, 'chunk')} (${formatBytes(bytes)}) on disk`;
  const unseen = buffers.unseen.length === 0 ? '' : `; not seen: ${buffers.unseen.join(', ')}`;
  return [`buffers: ${onDisk}${printable(unseen)}`];
}
