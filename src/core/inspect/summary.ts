import { brokenIn } from '../pos-file/pos-file.ts';
import { describeLeft, listed } from '../progress/describe.ts';
import { bytesToRead } from '../progress/progress.ts';
import { counted, formatBytes } from '../text/units.ts';
import { type Found, type FoundPosFile, filesIn, lostIn } from './found.ts';

/** `behind by 12.4 MiB in 2 of 31 files`. */
export function summaryOf({ posFiles, totals, lag, caughtUp }: Found): string {
  const files = counted(totals.files, 'file');
  const unknown = unjudged(posFiles)
    .map((what) => `; ${what}`)
    .join('');
  if (totals.left === 0) {
    const known = caughtUp ? `caught up: ${files}` : `nothing left in ${files}`;
    return `${lag === null ? `lag unknown${totals.files > 0 ? `; ${known}` : ''}` : known}${unknown}`;
  }
  if (totals.unknown === totals.left) return `lag unknown for ${totals.left} of ${files}${unknown}`;
  const how = caughtUp ? whyLeft(posFiles) : 'behind by';
  const bytes = `${lag === null ? 'at least ' : ''}${formatBytes(totals.lag)}`;
  return `${how} ${bytes} in ${totals.left} of ${files}${unknown}`;
}

/** The positions may be older than the witness's answer. */
function whyLeft(posFiles: readonly FoundPosFile[]): string {
  const left = filesIn({ posFiles }).filter(({ lag }) => lag !== 0);
  const isUnfinished = left.every(({ state }) => state === 'partial-line');
  return isUnfinished
    ? 'caught up, except unfinished last lines of'
    : 'caught up, says Fluentd; its pos file lacks';
}

function unjudged(posFiles: readonly FoundPosFile[]): readonly string[] {
  const failed = posFiles.filter(({ error }) => error !== undefined);
  const empty = failed.filter(({ isEmpty }) => isEmpty).length;
  const unread = failed.length - empty;
  const broken = posFiles.reduce((sum, { unparsable }) => sum + brokenIn(unparsable).length, 0);
  return [
    ...(broken === 0 ? [] : [`could not parse ${counted(broken, 'line')}`]),
    ...(unread === 0 ? [] : [`could not read ${counted(unread, 'pos file')}`]),
    ...(empty === 0 ? [] : [`${counted(empty, 'pos file')} ${empty === 1 ? 'is' : 'are'} empty`]),
  ];
}

/** Passes if no more than `most` bytes are left and nothing is unknown. Oddities of the pos file never fail it: dead lines outlive their cause. */
export function check(found: Found, most: number) {
  const { posFiles, lag, seen } = found;
  const { progress } = seen;
  const odd = posFiles.flatMap(({ path, findings }) => findings.map(({ why }) => `${path}: ${why}`));
  const lost = lostIn(seen).left;
  const passed = lag !== null && lost.length === 0 && bytesToRead(progress) <= most;
  const limit = passed || lag === null ? '' : ` (limit ${formatBytes(most)})`;
  const told = lost.length === 0 ? [] : [describeLeft(listed(lost))];
  const why = [...told, ...unknownIn(found)];
  return { passed, reason: [...why.slice(0, 1), summaryOf(found) + limit, ...odd].join('; ') };
}

/** Why the lag is unknown: the pos files first. */
export function unknownIn({ posFiles, seen, lag, waitsFor }: Found): readonly string[] {
  const broken = posFiles.flatMap(({ path, error }) => (error === undefined ? [] : [`${path}: ${error}`]));
  const unknown = filesIn({ posFiles }).filter(({ lag }) => lag === null);
  const lags = unknown.map(({ path, state }) => `the lag of ${path} is unknown (${state})`);
  const known = [...broken, ...seen.unlisted, ...lags];
  return known.length === 0 && lag === null && waitsFor !== undefined ? [waitsFor] : known;
}
