import { describeAbandoned } from '../observe/abandoned.ts';
import { BLOCKED_AFTER } from '../observe/judge-entry.ts';
import { formatBytes, formatDuration, type Millis } from '../text/units.ts';
import type { Followed, History } from './history.ts';
import {
  byProof,
  type Overview,
  type Place,
  type UndiscoveredOverview,
  VERDICTS,
  type Verdict,
} from './overview.ts';

/** What has waited for longer is behind: in_tail looks each second, and reads a little at a time. */
export const WINDOW: Millis = 10_000;

/** Of most files nobody asks why. */
interface Judged {
  readonly is: Verdict['is'];
  readonly why: () => string;
}

const OK: Judged = { is: 'ok', why: () => 'what is written is read within 10 s, or the lag falls' };
const LOG_TELLS = "Fluentd's log tells why: a full buffer, a destination that does not answer, a read limit";

/** The worst of all files, and how many are what. */
export function verdictsOf(
  found: Overview,
  history: History,
): Required<Pick<Overview, 'verdict' | 'verdicts'>> {
  let worst = ofTheWhole(found);
  const verdicts = { ok: found.totals.files, 'falling behind': 0, unknown: 0, stalled: 0, losing: 0 };
  const take = (judged: Judged) => {
    verdicts.ok -= 1;
    verdicts[judged.is] += 1;
    if (VERDICTS.indexOf(judged.is) > VERDICTS.indexOf(worst.is)) worst = judged;
  };
  for (const file of found.undiscovered) take(ofFile(file, history));
  for (const posFile of found.posFiles)
    for (let row = 0; row < posFile.entries.rows.count; row += 1)
      if (posFile.entries.isShown(row) && posFile.entries.lag(row) !== 0)
        take(ofFile({ posFile, row }, history));
  return { verdict: told(worst), verdicts };
}

export function verdictOfFile(file: Place | UndiscoveredOverview, history: History): Verdict {
  return told(ofFile(file, history));
}

function told({ is, why }: Judged): Verdict {
  return { is, why: why() };
}

function ofFile(file: Place | UndiscoveredOverview, history: History): Judged {
  return 'row' in file ? ofRow(file, history) : ofUndiscovered(file, history);
}

function ofTheWhole({ lost = [], posFiles, unlisted }: Overview): Judged {
  const [proven, unproven] = byProof(lost);
  if (proven.length > 0)
    return {
      is: 'losing',
      why: () =>
        `${describeAbandoned(proven)}: rotate less often or keep more files, and find out why Fluentd stands still`,
    };
  const broken = posFiles.find(({ error }) => error !== undefined);
  if (broken !== undefined) return { is: 'unknown', why: () => `${broken.path}: ${broken.error}` };
  const [first] = unlisted;
  if (first !== undefined) return { is: 'unknown', why: () => first };
  const why = () => describeAbandoned(unproven);
  return unproven.length === 0 ? OK : { is: 'unknown', why };
}

function ofUndiscovered(
  { path, size, inode, refreshInterval }: UndiscoveredOverview,
  history: History,
): Judged {
  const waited = size === 0 ? 0 : (history.losses.waited(inode) ?? 0);
  if (waited <= Math.max(2 * refreshInterval, WINDOW)) return OK;
  const why = () =>
    `in_tail has not found ${path} for ${formatDuration(waited)}: may Fluentd read it, and does it run?`;
  return { is: 'stalled', why };
}

function ofRow({ posFile: { path: posFile, entries }, row }: Place, history: History): Judged {
  if (entries.lag(row) === 0) return OK;
  const { path, inode, state, lag } = entries.at(row);
  if (state === 'partial-line') return OK;
  if (lag === null)
    return { is: 'unknown', why: () => `${path} is ${state}, and nobody knows how much of it was read` };
  const followed = history.find(posFile, { path, inode });
  if (state === 'blocked')
    return {
      is: 'stalled',
      why: () => `${path} stands still with ${formatBytes(lag)} left; ${LOG_TELLS}`,
    };
  return followed === undefined
    ? OK
    : ofFollowed(state === 'missing' ? `${path} was deleted, and` : path, followed);
}

function ofFollowed(path: string, followed: Followed): Judged {
  const { waited, hasWaited } = followed;
  const lags = followed.lagsOver(WINDOW);
  if (hasWaited <= WINDOW || lags.now < lags.before) return OK;
  if (followed.hasStood(BLOCKED_AFTER))
    return {
      is: 'stalled',
      why: () => `${path} stands still with ${formatBytes(lags.now)} left; ${LOG_TELLS}`,
    };
  return {
    is: 'falling behind',
    why: () =>
      `${path} is ${formatDuration(waited)} behind, ${formatBytes(lags.now)}, and it grows: raise its read limit, or the flush threads of a slow output`,
  };
}
