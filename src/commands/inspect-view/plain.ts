import { rowsOf, undiscoveredOf } from '../../core/inspect/order.ts';
import { type Overview, type PosFileOverview, summaryOf } from '../../core/inspect/overview.ts';
import type { ShownEntry } from '../../core/inspect/rows.ts';
import { whyUnparsable } from '../../core/pos-file/pos-line.ts';
import { printable } from '../../core/text/printable.ts';
import { formatBytes, formatDuration } from '../../core/text/units.ts';
import { percentOf, positionText } from './cells.ts';
import { inGroups } from './groups.ts';
import { buffersIn, rawSummary, type View, withoutEntries } from './table.ts';

/** What was found as sentences, for a screen reader: no columns, no colours, no drawing; the summary first. */
export function* plainLines(found: Overview, view: View): Generator<string> {
  yield `${view.raw ? rawSummary(found) : summaryOf(found)}.`;
  for (const posFile of found.posFiles) yield* posFileSentences(posFile, view);
  for (const { path, size } of undiscoveredOf(found, view))
    yield `File ${printable(path)}: undiscovered, ${formatBytes(size)} left, no entry yet.`;
  for (const why of found.unlisted) yield `Note: ${printable(why)}.`;
  for (const line of buffersIn(found, view.conf)) yield `${line}.`;
  for (const note of view.notes) yield `Note: ${printable(note)}.`;
}

function* posFileSentences(posFile: PosFileOverview, view: View): Generator<string> {
  const { path, entries, error, unparsable, troubles } = posFile;
  yield `Pos file ${printable(path)}:`;
  if (error !== undefined) yield capitalized(`${withoutEntries(posFile)}.`);
  for (const group of inGroups(rowsOf(entries, view)))
    yield group.map((row) => sentenceOf(entries.at(row))).join('\n');
  for (const bad of unparsable)
    yield `Line ${bad.line} cannot be parsed, ${whyUnparsable(bad)}: ${printable(bad.text)}`;
  for (const { why } of posFile.findings ?? []) yield capitalized(`${why}.`);
  for (const { path, error } of troubles) yield `Cannot look at ${printable(path)}: ${printable(error)}.`;
}

function capitalized(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

export function sentenceOf(entry: ShownEntry): string {
  const { path, state, lag, position, size, inode, age } = entry;
  const parts = [
    state,
    state !== null && (lag === null ? 'lag unknown' : `${formatBytes(lag)} left`),
    state !== null && state !== 'unwatched' && lag !== null && size !== null && `${percentOf(entry)} read`,
    position === null ? 'no position' : `position ${positionText(position)}`,
    size !== null && `size ${size}`,
    `inode ${inode}`,
    age !== null && `last moved ${formatDuration(age)} ago`,
  ];
  return `File ${printable(path)}: ${parts.filter((part) => typeof part === 'string').join(', ')}.`;
}
