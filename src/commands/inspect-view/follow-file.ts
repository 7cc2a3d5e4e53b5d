import type { TailSource } from '../../core/fluent-conf/tail.ts';
import type { Found, ShownFile } from '../../core/inspect/found.ts';
import type { Paces } from '../../core/inspect/paces.ts';
import { type Verdict, verdictOf } from '../../core/inspect/verdict.ts';
import { podNameOf, withPodNames } from '../../core/text/container-log.ts';
import { printable } from '../../core/text/printable.ts';
import { sparkline } from '../../core/text/sparkline.ts';
import { formatBytes, formatDuration } from '../../core/text/units.ts';
import { sentenceOf } from './plain.ts';
import type { View } from './table.ts';

/** All that is known of one file: lines that are still to be wrapped. */
export function* fileLines(found: Found, file: ShownFile, view: View, columns: number): Generator<string> {
  const { path, posFile, state } = file;
  yield podNameOf(path)?.name ?? '';
  yield sentenceOf(file, found.at);
  yield* paceLines(file, found.judged?.paces, columns);
  yield* verdictLines(verdictOf(file, found));
  if (state === 'undiscovered') return;
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

function* paceLines({ key }: ShownFile, paces: Paces | undefined, columns: number): Generator<string> {
  const pace = paces?.of(key);
  if (pace === undefined) return;
  const { rate, eta, lags } = pace.pace();
  const { late } = pace;
  const facts = [
    late !== null && late > 0 && `the oldest unread byte has waited for ${formatDuration(late)}`,
    rate !== null && `read at ${formatBytes(Math.round(rate))}/s`,
    eta !== null && `about ${formatDuration(eta)} to go`,
  ];
  yield facts.filter((fact) => fact !== false).join(', ');
  const most = Math.max(0, ...lags);
  if (most === 0 || lags.length < 2) return;
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
