import type { Found, FoundPosFile, ShownFile } from '../../core/inspect/found.ts';
import { ordered } from '../../core/inspect/order.ts';
import { rawSummaryOf, summaryOf } from '../../core/inspect/summary.ts';
import { whyUnparsable } from '../../core/pos-file/pos-line.ts';
import { printable } from '../../core/text/printable.ts';
import { formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';
import { ageOf, percentOf, positionText } from './cells.ts';
import { buffersIn, moreLines, type View, withoutEntries } from './table.ts';

/** What was found as sentences, for a screen reader: no columns, no colours, no drawing; the summary first. */
export function* plainLines(found: Found, view: View): Generator<string> {
  yield `${view.raw ? rawSummaryOf(found) : summaryOf(found)}.`;
  for (const posFile of found.posFiles) yield* posFileSentences(posFile, view, found.at);
  for (const file of ordered(found.undiscovered, view)) yield sentenceOf(file, found.at);
  for (const why of found.unlisted) yield `Note: ${printable(why)}.`;
  for (const line of buffersIn(found, view.conf)) yield `${line}.`;
  for (const note of view.notes) yield `Note: ${printable(note)}.`;
}

function* posFileSentences(posFile: FoundPosFile, view: View, at: Millis): Generator<string> {
  const { path, files, error, unparsable, findings, troubles } = posFile;
  yield `Pos file ${printable(path)}:`;
  if (error !== undefined) yield capitalized(`${withoutEntries(posFile)}.`);
  for (const file of ordered(files, view)) yield sentenceOf(file, at);
  for (const line of moreLines(posFile)) yield capitalized(`${line}.`);
  for (const bad of unparsable)
    yield `Line ${bad.line} cannot be parsed, ${whyUnparsable(bad)}: ${printable(bad.text)}`;
  for (const { why } of findings) yield capitalized(`${why}.`);
  for (const { path, error } of troubles) yield `Cannot look at ${printable(path)}: ${printable(error)}.`;
}

function capitalized(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function sentenceOf(file: ShownFile, at: Millis): string {
  const { path, state, lag, position, size, inode } = file;
  if (state === 'undiscovered')
    return `File ${printable(path)}: undiscovered, ${formatBytes(size ?? 0)} left, no entry yet.`;
  const age = ageOf(file, at);
  const parts = [
    state,
    state !== null && (lag === null ? 'lag unknown' : `${formatBytes(lag)} left`),
    state !== null && state !== 'unwatched' && lag !== null && size !== null && `${percentOf(file)} read`,
    position === null ? 'no position' : `position ${positionText(position)}`,
    size !== null && `size ${size}`,
    `inode ${inode}`,
    age !== undefined && `last moved ${formatDuration(age)} ago`,
  ];
  return `File ${printable(path)}: ${parts.filter((part) => typeof part === 'string').join(', ')}.`;
}
