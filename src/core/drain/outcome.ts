import { describeDoubts, describeLeft, describeReceipts, progressSummary } from '../progress/describe.ts';
import {
  type Doubt,
  ignoringOwnEvents,
  mayEmitAtStop,
  type PendingChunks,
  type Progress,
} from '../progress/progress.ts';
import type { Seen } from '../progress/seen.ts';
import { counted, formatDuration, type Millis } from '../text/units.ts';
import { NEVER } from './deadlines.ts';
import type { Policy } from './policy.ts';
import type { End, Of, StateName, Trigger } from './state.ts';
import { isGuess, mainWroteUntil } from './trigger.ts';

/**
 * `drained`: Fluentd read every line and every output sent what it took. `not-drained`: something was left. `unproven`: nothing is known
 * to be left, but something is doubted.
 */
export type Word = 'drained' | 'unproven' | 'not-drained';

/** The result of a watch. Fluentd's own exit code says nothing about delivery. */
export interface Outcome extends Readonly<ReturnType<typeof progressSummary>> {
  /** The version of src/core/drain/outcome.schema.json. */
  readonly version: 1;
  readonly end: End['kind'];
  readonly why: string;
  readonly outcome: Word;
  readonly trigger: Trigger['by'] | null;
  readonly durationsMs: Readonly<Partial<Record<StateName, Millis>>>;
}

export type Durations = Outcome['durationsMs'];

/** The outcome of a watch that ended. `seen` is the look after Fluentd was gone. */
export function outcomeOf(
  { end, trigger, pending }: Of<'stopped'>,
  { seen, policy, durations }: { seen: Seen; policy: Policy; durations: Durations },
): Outcome {
  const { progress } = seen;
  const mainEnd = mainWroteUntil(trigger, seen, policy);
  const doubted = [
    ...(isUntold(end, mainEnd, seen) ? [MAIN_MAY_RUN] : []),
    ...(isEarly(end, trigger, mainEnd, seen) ? [ENDED_EARLY] : []),
    ...progress.doubts,
  ];
  const { word, left, doubts } = verdictOf({ ...progress, doubts: doubted }, pending, end.kind);
  return {
    version: 1,
    end: end.kind,
    why: end.why,
    outcome: word,
    trigger: trigger?.by ?? null,
    ...progressSummary({ ...progress, left, doubts }),
    durationsMs: Object.fromEntries(Object.entries(durations).map(([name, ms]) => [name, Math.round(ms)])),
  };
}

/** Whether nobody said that main had ended before posidle stopped Fluentd. What it wrote after the last look nobody read. */
function isUntold(end: End, mainEnd: Millis, { progress }: Seen): boolean {
  return mainEnd === NEVER || (isStoppedByPosidle(end.kind) && mainEnd > progress.at);
}

/** Whether a worker that reads had ended before main. A guess is not main's end. */
function isEarly({ kind }: End, trigger: Trigger | undefined, mainEnd: Millis, seen: Seen): boolean {
  if (mainEnd === NEVER) return false;
  const { followedUntil, at } = seen.progress;
  if (kind === 'ended-by-itself')
    return followedUntil < (trigger !== undefined && isGuess(trigger) ? seen.at : mainEnd);
  // What posidle stopped was alive until then. Another worker may have been alive for longer.
  return followedUntil < Math.min(mainEnd, at);
}

const MAIN_MAY_RUN: Doubt = {
  kind: 'main-may-run',
  about: 'main',
  why: 'nobody said in time that it has ended: its last lines may be missing',
};

const ENDED_EARLY: Doubt = {
  kind: 'ended-early',
  why: 'Fluentd, or a worker of it, had ended by itself: nobody read what main wrote after that',
};

const NO_DRAIN: Doubt = { kind: 'no-drain', why: 'posidle could not drain Fluentd' };

/** The doubt that comes from the end itself. `NO_DRAIN`: posidle could not work. */
const OF_ENDS: Readonly<Partial<Record<End['kind'], Doubt>>> = {
  'no-fluentd': NO_DRAIN,
  'not-permitted': NO_DRAIN,
  'not-proven': NO_DRAIN,
  ambiguous: NO_DRAIN,
  killed: { kind: 'killed', why: 'Fluentd had to be killed: nobody saw what it still held' },
  survived: { kind: 'killed', why: 'Fluentd did not end: nobody saw what it still held' },
};

export function verdictOf(progress: Progress, pending: PendingChunks | undefined, end: End['kind']) {
  const runsOn = end !== 'ended-by-itself' && !isStoppedByPosidle(end);
  const { left, doubts: raised } =
    runsOn || !mayEmitAtStop(progress) ? ignoringOwnEvents(progress, pending) : progress;
  const doubts = [...raised, ...(OF_ENDS[end] ? [OF_ENDS[end]] : [])];
  const word: Word = left.length > 0 ? 'not-drained' : doubts.length > 0 ? 'unproven' : 'drained';
  return { word, left, doubts };
}

export const EXIT = { ok: 0, bug: 1, usage: 2, notDrained: 3, cannotWork: 4 } as const;

export function isFailure({ end }: Pick<Outcome, 'end'>): boolean {
  return OF_ENDS[end] === NO_DRAIN;
}

export function exitCodeOf({ end, outcome }: Outcome, { strict }: { readonly strict: boolean }): number {
  const isLeft = outcome === 'not-drained' || (strict && outcome !== 'drained');
  return isFailure({ end }) ? EXIT.cannotWork : isLeft ? EXIT.notDrained : EXIT.ok;
}

export function isStoppedByPosidle(end: End['kind']): boolean {
  return end === 'stopped' || end === 'killed' || end === 'survived';
}

export function describeOutcome(outcome: Outcome): string {
  const { why, outcome: word, durationsMs: durations } = outcome;
  if (isFailure(outcome)) return why;
  const took = formatDuration((durations.stopping ?? 0) + (durations.killing ?? 0));
  const ended = `${why}${isStoppedByPosidle(outcome.end) ? ` after ${took}` : ''}`;
  return `${ended}; ${word.replace('-', ' ')}: ${reasonOf(outcome)}`;
}

function reasonOf({ left, doubts, files, lines, outputs }: Outcome): string {
  const reasons = [
    left.count > 0 && describeLeft(left),
    doubts.count > 0 && `${left.count > 0 ? 'doubted: ' : ''}${describeDoubts(doubts)}`,
  ].filter((reason) => reason !== false);
  if (reasons.length > 0) return reasons.join('; ');
  const read = lines === undefined ? '' : `${counted(lines, 'line')} read from `;
  const buffered = outputs.filter(({ delivered }) => delivered !== undefined);
  const sent = buffered.length === 0 ? '' : `; ${describeReceipts(buffered)}`;
  return `${read}${counted(files, 'file')}${lines === undefined ? ' read' : ''}${sent}`;
}
