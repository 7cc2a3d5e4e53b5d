import type { TailSource } from '../../core/fluent-conf/tail.ts';
import type { History } from '../../core/inspect/history.ts';
import type { Overview, Place, UndiscoveredOverview, Verdict } from '../../core/inspect/overview.ts';
import { podNameOf, withPodNames } from '../../core/text/container-log.ts';
import { printable } from '../../core/text/printable.ts';
import { sparkline } from '../../core/text/sparkline.ts';
import { formatBytes, formatDuration } from '../../core/text/units.ts';
import { sentenceOf } from './plain.ts';
import type { View } from './table.ts';

/** One row of the live view: an entry, or a file that has none yet. */
export type Listed = Place | UndiscoveredOverview;

/** What tells a file from all others, look by look. */
export interface Opened {
  readonly posFile: string;
  readonly path: string;
  readonly inode: string;
}

export function openedOf(one: Listed): Opened {
  if (!('row' in one)) return one;
  const { path, inode } = one.posFile.entries.rows.entry(one.row);
  return { posFile: one.posFile.path, path, inode };
}

/** Where an opened file is in this look; undefined: it has gone. */
export function findOpened(found: Overview, { posFile: name, path, inode }: Opened): Listed | undefined {
  const posFile = found.posFiles.find((one) => one.path === name);
  const rows = posFile?.entries.order() ?? [];
  for (const row of rows) {
    const entry = posFile?.entries.rows.entry(row);
    if (posFile !== undefined && entry?.path === path && entry.inode === inode) return { posFile, row };
  }
  return found.undiscovered.find((file) => file.path === path && file.inode === inode);
}

/** All that is known of one file: lines that are still to be wrapped. */
export function* fileLines(
  found: Overview,
  one: Listed,
  { history, view, columns }: { readonly history: History; readonly view: View; readonly columns: number },
): Generator<string> {
  const { posFile, path } = openedOf(one);
  yield podNameOf(path)?.name ?? '';
  if ('row' in one) yield* entryLines(one, history, columns);
  else yield `File ${printable(path)}: undiscovered, ${formatBytes(one.size)} left, no entry yet.`;
  yield* verdictLines(found.verdictOf?.(one));
  yield '';
  yield `pos file: ${printable(posFile)}`;
  const source = view.conf?.sources.find((one) => one.posFile === posFile);
  if (source === undefined) yield 'source: not known; give -c';
  else yield* sourceLines(source);
}

/** What is not as it should be. */
export function verdictLines(verdict: Verdict | undefined): readonly string[] {
  return verdict === undefined || verdict.is === 'ok'
    ? []
    : [withPodNames(printable(`${verdict.is}: ${verdict.why}`))];
}

function* entryLines({ posFile, row }: Place, history: History, columns: number): Generator<string> {
  const entry = posFile.entries.at(row);
  yield sentenceOf(entry);
  const { rate, eta, lags, late } = history.pace(posFile.path, entry);
  const facts = [
    late !== null && late > 0 && `the oldest unread byte has waited for ${formatDuration(late)}`,
    rate !== null && `read at ${formatBytes(Math.round(rate))}/s`,
    eta !== null && `about ${formatDuration(eta)} to go`,
  ];
  yield facts.filter((fact) => fact !== false).join(', ');
  const most = Math.max(0, ...lags);
  if (most === 0) return;
  yield `lag of the last ${lags.length} looks, at most ${formatBytes(most)}:`;
  yield sparkline(lags, Math.min(lags.length, columns));
}

function* sourceLines(source: TailSource): Generator<string> {
  const { place, paths, refreshInterval, rotateWait, followInodes, readFromHead } = source;
  yield `source: ${printable(`${place.file}:${place.line}`)}, path ${printable(paths.join(','))}`;
  const facts = [
    `looks for new files every ${formatDuration(refreshInterval)}`,
    `reads a renamed file for ${formatDuration(rotateWait)}`,
    followInodes && 'follow_inodes',
    !readFromHead && 'read_from_head false',
  ];
  yield facts.filter((fact) => fact !== false).join(', ');
  const limits = [
    source.readBytesLimitPerSecond !== undefined && `${formatBytes(source.readBytesLimitPerSecond)}/s`,
    source.hasGroup && 'lines, by a <group>',
  ];
  yield `limits: ${limits.filter((limit) => limit !== false).join(', ') || 'none'}`;
}
