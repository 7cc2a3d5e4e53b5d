import { BLOCKED_AFTER } from '../look/judge-entry.ts';
import type { Observation, ObservedFile } from '../look/observation.ts';
import { formatBytes, formatDuration, type Millis } from '../text/units.ts';
import { type Found, filesIn } from './found.ts';
import type { FilePace } from './paces.ts';
import { WINDOW } from './track.ts';

/** The worst last. */
const VERDICTS = ['ok', 'falling-behind', 'unknown', 'stalled', 'losing'] as const;

export interface Verdict {
  readonly is: (typeof VERDICTS)[number];
  /** One sentence: why, and what to do. */
  readonly why: string;
}

const OK: Verdict = { is: 'ok', why: 'Fluentd reads each line within 10 s, or the lag falls' };
const LOG_TELLS = "Fluentd's log tells why: a full buffer, a destination that does not answer, a read limit";

/** The worst verdict, and the number of files with each verdict; undefined for a single look. */
export function verdictsOf(found: Found) {
  if (found.paces === undefined) return undefined;
  const losing = losingFiles(found);
  const [first] = losing;
  let worst = first === undefined ? verdictOfPosFiles(found) : lost(first, losing.length);
  const files = [...found.undiscovered, ...filesIn(found)];
  const counts = { ok: files.length, 'falling-behind': 0, unknown: 0, stalled: 0, losing: losing.length };
  for (const file of files) {
    if (file.lag === 0) continue;
    const verdict = verdictOf(file, found);
    counts.ok -= 1;
    counts[verdict.is] += 1;
    if (VERDICTS.indexOf(verdict.is) > VERDICTS.indexOf(worst.is)) worst = verdict;
  }
  return { worst, counts };
}

export function verdictOf(file: ObservedFile, { seen, paces, refreshInterval }: Found): Verdict {
  const { path, state, lag, key } = file;
  if (lag === 0 || state === 'partial-line' || paces === undefined) return OK;
  if (state === 'undiscovered')
    return verdictOfUndiscovered(path, paces.waitedToBeFound(path), refreshInterval);
  if (lag === null)
    return { is: 'unknown', why: `${path} is ${state}, and nobody knows how much of it was read` };
  if (state === 'blocked') return stalled(path, lag);
  const pace = paces.of(key);
  return pace === undefined ? OK : verdictByPace(file, lag, pace, seen);
}

function verdictOfPosFiles({ posFiles, seen }: Found): Verdict {
  const broken = posFiles.find(({ error }) => error !== undefined);
  if (broken !== undefined) return { is: 'unknown', why: `${broken.path}: ${broken.error}` };
  const [first] = seen.unlisted;
  return first === undefined ? OK : { is: 'unknown', why: first };
}

function verdictOfUndiscovered(path: string, waited: Millis, refreshInterval: Millis): Verdict {
  if (waited <= Math.max(2 * refreshInterval, WINDOW)) return OK;
  const why = `in_tail has not found ${path} for ${formatDuration(waited)}: may Fluentd read it, and does it run?`;
  return { is: 'stalled', why };
}

function verdictByPace(
  { path, key, state, movedAt }: ObservedFile,
  lag: number,
  pace: FilePace,
  { at, memory }: Observation,
): Verdict {
  if (pace.waitedAtLeast <= WINDOW || pace.pace().eta !== null) return OK;
  const standsSince = Math.max(movedAt, memory.entries.get(key)?.leftSince ?? at);
  if (at - standsSince >= BLOCKED_AFTER)
    return stalled(state === 'missing' ? `${path} was deleted, and` : path, lag);
  return {
    is: 'falling-behind',
    why: `${path} is ${formatDuration(pace.waited)} behind, ${formatBytes(lag)}, and it grows: raise its read limit, or the flush threads of a slow output`,
  };
}

function stalled(path: string, lag: number): Verdict {
  return { is: 'stalled', why: `${path} stands still with ${formatBytes(lag)} left; ${LOG_TELLS}` };
}

/** Files that left their paths with late unread bytes, and files that a witness saw in_tail let go of unread. */
function losingFiles({ seen, progress, paces }: Found): readonly string[] {
  const late = [...seen.memory.departed].filter(([key]) => (paces?.of(key)?.waitedAtLeast ?? 0) > WINDOW);
  const letGo = progress.left.flatMap((one) => (one.kind === 'let-go' ? [one.path] : []));
  return [...new Set([...letGo, ...late.map(([, { path }]) => path)])];
}

function lost(path: string, count: number): Verdict {
  const more = count > 1 ? ` and ${count - 1} more` : '';
  return {
    is: 'losing',
    why: `${path}${more} left its path with bytes that had waited for too long, and nobody saw them read: rotate less often or keep more files, and find out why Fluentd stands still`,
  };
}
