import type { ConfFacts } from '../../core/fluent-conf/facts.ts';
import type { Found, FoundPosFile, Totals } from '../../core/inspect/found.ts';
import { ordered, shareRead, type Which } from '../../core/inspect/order.ts';
import { rawSummaryOf, summaryOf } from '../../core/inspect/summary.ts';
import { whyUnparsable } from '../../core/pos-file/pos-file.ts';
import { printable } from '../../core/text/printable.ts';
import { shortenEnd, shortenMiddle, widthOf, wrap } from '../../core/text/text-width.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';
import { COLUMNS, cellsOf, RAW_COLUMNS, rawCellsOf } from './cells.ts';
import { Layout } from './columns.ts';
import type { Style } from './style.ts';
import { witnessLines } from './witness-lines.ts';

/** How what was found is shown. */
export interface View extends Which {
  readonly style: Style;
  /** undefined: no terminal, lines may be as long as they like. */
  readonly width: number | undefined;
  readonly raw: boolean;
  readonly conf: ConfFacts | undefined;
  readonly notes: readonly string[];
  /** Many files of which nothing is left are counted, and not shown: what is late stays on the screen. */
  readonly folds?: boolean;
}

const MOST_DEFECTS = 20;
const MOST_READ = 20;
const INDENT = '  ';
const CANNOT_LOOK = 'cannot look at ';
/** A name is not cut below this width: what is too long then is broken. */
const LEAST_NAME = 16;

/** What was found, for people, one or more lines at a time: a table a pos file, then what else there is, then one sentence. */
export function* tableLines(found: Found, view: View): Generator<string> {
  for (const posFile of found.posFiles) yield* posFileLines(posFile, view, found.at);
  yield* undiscoveredLines(found, view);
  for (const line of witnessLines(found)) yield* wrapped(line, view);
  for (const line of closingLines(found, view)) yield* wrapped(line, view);
  yield* lastLines(found, view);
}

function* posFileLines(posFile: FoundPosFile, view: View, at: Millis): Generator<string> {
  const { path, error, isEmpty } = posFile;
  const { style, width } = view;
  const age = ageOf(posFile);
  const name = printable(path === '-' ? 'stdin' : path);
  yield style.bold(width === undefined ? name : shortenMiddle(name, width - age.length)) + style.dim(age);
  if (error !== undefined) yield* below(withoutEntries(posFile), view);
  const all = ordered(posFile.files, view);
  const late = view.folds ? all.filter(({ lag }) => lag !== 0) : all;
  const folded = all.length - late.length;
  const shown = (folded > MOST_READ ? late : all).map((file) =>
    view.raw ? rawCellsOf(file) : cellsOf(file, at),
  );
  const layout = new Layout(
    view.raw ? RAW_COLUMNS : COLUMNS,
    shown,
    width === undefined ? undefined : width - 2,
  );
  if (shown.length > 0) yield `  ${style.dim(layout.title())}`;
  else if (all.length === 0 && isEmpty && error === undefined)
    yield '  no entry: there is nothing to read yet';
  for (const row of shown) yield `  ${layout.row(row, style)}`;
  if (shown.length < all.length)
    yield `  and ${folded} files of which nothing is left: --sort file shows them`;
  for (const line of moreLines(posFile)) yield* below(line, view);
  for (const line of unparsableIn(posFile)) yield fitted(`  ${line}`, view, style.bad);
  for (const { why } of posFile.findings) yield* below(why, view);
  for (const line of troublesIn(posFile, view)) yield* below(line, view);
  yield '';
}

/** Why a pos file cannot be believed. */
function withoutEntries({ error = '', isEmpty }: FoundPosFile): string {
  return isEmpty ? printable(error) : `cannot be inspected: ${printable(error)}`;
}

/** What is beyond the lines that are looked at. */
function moreLines({ files, more }: FoundPosFile): readonly string[] {
  return more === 0
    ? []
    : [`these are its first ${files.length} entries; ${counted(more, 'further line')} not looked at`];
}

function ageOf({ age, error }: FoundPosFile): string {
  return Number.isFinite(age) && error === undefined ? `  written ${formatDuration(age)} ago` : '';
}

function unparsableIn({ unparsable }: FoundPosFile): readonly string[] {
  const lines = unparsable
    .slice(0, MOST_DEFECTS)
    .map(
      (bad) =>
        `line ${bad.line} cannot be parsed, ${whyUnparsable(bad)}: ${printable(bad.text.slice(0, 200))}`,
    );
  const more = moreThanShown(unparsable.length, 'unparsable line');
  return more === undefined ? lines : [...lines, `${more}; --json has more of them`];
}

function troublesIn({ troubles }: FoundPosFile, { width }: View): readonly string[] {
  const lines = troubles.slice(0, MOST_DEFECTS).map(({ path, error }) => {
    const why = `: ${printable(error)}`;
    const name = printable(path);
    // The reason is what one has to know: it is the path that gives way.
    const room = width === undefined ? Infinity : width - INDENT.length - CANNOT_LOOK.length - widthOf(why);
    return `${CANNOT_LOOK}${shortenMiddle(name, Math.max(LEAST_NAME, room))}${why}`;
  });
  const more = moreThanShown(troubles.length, 'such file');
  return more === undefined ? lines : [...lines, more];
}

function moreThanShown(count: number, noun: string): string | undefined {
  return count > MOST_DEFECTS ? `and ${counted(count - MOST_DEFECTS, `more ${noun}`)}` : undefined;
}

function* undiscoveredLines({ undiscovered, refreshInterval, at }: Found, view: View): Generator<string> {
  const { style, width } = view;
  const all = ordered(undiscovered, { ...view, sort: 'lag' });
  if (all.length === 0) return;
  const title = `undiscovered: ${counted(all.length, 'file')}; in_tail looks for new ones every ${formatDuration(refreshInterval)}`;
  yield* wrapped(title, view, style.bold);
  const cells = all.map((file) => cellsOf(file, at));
  const layout = new Layout(COLUMNS, cells, width === undefined ? undefined : width - 2);
  for (const row of cells) yield `  ${layout.row(row, style)}`;
  yield '';
}

function closingLines(found: Found, view: View): readonly string[] {
  const { totals } = found;
  if (view.raw) return view.notes.map((note) => `note: ${printable(note)}`);
  return [
    ...view.notes.map((note) => `note: ${printable(note)}`),
    ...found.unlisted.map((why) => `note: ${printable(why)}`),
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

/** What is known of the buffers, in one line; none where no configuration is known. */
function buffersIn({ buffers }: Found, conf: ConfFacts | undefined): readonly string[] {
  if (buffers === undefined || conf === undefined) return [];
  const chunks = buffers.outputs.flatMap((output) => output.chunks);
  const bytes = chunks.reduce((sum, { size }) => sum + size, 0);
  const seen =
    chunks.length === 0
      ? 'no chunk on disk'
      : `${counted(chunks.length, 'chunk')} (${formatBytes(bytes)}) on disk`;
  const unseen = buffers.unseen.length === 0 ? '' : `; not seen: ${buffers.unseen.join(', ')}`;
  return [`buffers: ${seen}${printable(unseen)}`];
}

function lastLines(found: Found, view: View): readonly string[] {
  const { style, raw } = view;
  if (raw) return wrapped(rawSummaryOf(found), view);
  const why = view.folds && !found.caughtUp ? '; --follow tells why' : '';
  return wrapped(summaryOf(found) + why, view, found.caughtUp ? style.good : style.bold);
}

function fitted(line: string, { width }: View, paint = plain): string {
  return paint(width === undefined ? line : shortenEnd(line, width));
}

function wrapped(line: string, { width }: View, paint = plain): readonly string[] {
  return width === undefined ? [paint(line)] : wrap(line, width).map((part) => paint(part));
}

/** What is wrong with a pos file, below its name. */
function below(line: string, view: View): readonly string[] {
  const lines = view.width === undefined ? [line] : wrap(line, view.width - INDENT.length);
  return lines.map((part) => view.style.bad(INDENT + part));
}

function plain(text: string): string {
  return text;
}
