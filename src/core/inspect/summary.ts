import { counted, formatBytes, formatDuration } from '../text/units.ts';
import type { Found, FoundPosFile } from './found.ts';

/** `behind by 12.4 MiB in 2 of 31 files`. */
export function summaryOf({ posFiles, totals, lag, caughtUp, judged }: Found): string {
  const files = counted(totals.files, 'file');
  const unknown = unjudged(posFiles)
    .map((what) => `; ${what}`)
    .join('');
  if (totals.left === 0) {
    const known = caughtUp ? `caught up: ${files}` : `nothing left in ${files}`;
    return `${lag === null ? `lag unknown${totals.files > 0 ? `; ${known}` : ''}` : known}${unknown}`;
  }
  if (totals.unknown === totals.left) return `lag unknown for ${totals.left} of ${files}${unknown}`;
  const how = caughtUp ? 'caught up, but for unfinished last lines of' : 'behind by';
  const late = judged?.paces?.late;
  const span = caughtUp || !late ? '' : ` (${formatDuration(late)})`;
  const bytes = `${lag === null ? 'at least ' : ''}${formatBytes(totals.lag)}${span}`;
  return `${how} ${bytes} in ${totals.left} of ${files}${unknown}`;
}

/** Of pos files in which no log file was looked at. */
export function rawSummaryOf({ posFiles, totals }: Found): string {
  const lines = posFiles.reduce((sum, { unparsable }) => sum + unparsable.length, 0);
  const bad = lines === 0 ? '' : `, ${counted(lines, 'unparsable line')}`;
  return `${totals.files} ${totals.files === 1 ? 'entry' : 'entries'}${bad}; no log file was looked at`;
}

function unjudged(posFiles: readonly FoundPosFile[]): readonly string[] {
  const failed = posFiles.filter(({ error }) => error !== undefined);
  const empty = failed.filter(({ isEmpty }) => isEmpty).length;
  const unread = failed.length - empty;
  const more = posFiles.reduce((sum, one) => sum + one.more, 0);
  return [
    ...(unread === 0 ? [] : [`could not read ${counted(unread, 'pos file')}`]),
    ...(empty === 0 ? [] : [`${counted(empty, 'pos file')} ${empty === 1 ? 'is' : 'are'} empty`]),
    ...(more === 0 ? [] : [`${counted(more, 'line')} not looked at`]),
  ];
}
