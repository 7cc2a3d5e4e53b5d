import type { Observation } from '../observe/observation.ts';
import { progressOf } from '../observe/progress-of.ts';
import { describeDoubts, describeLeft, type Listed, listed } from '../progress/describe.ts';
import { type Doubt, type Left, type Owed, type Progress, withoutLater } from '../progress/progress.ts';
import { counted, formatDuration, type Millis } from '../text/units.ts';
import type { Policy } from './policy.ts';
import type { End, State, StateName, Trigger } from './state.ts';

/**
 * `drained`: every line that was written was read, and every output has sent what it took. `not-drained`: something plainly lies
 * there. `unproven`: neither.
 */
export type Word = 'drained' | 'unproven' | 'not-drained';

/** What came of it, told after Fluentd is gone: its own exit code says nothing about delivery. */
export interface Outcome {
  /** Of this shape: src/core/drain/outcome.schema.json. */
  readonly version: 1;
  readonly end: End['kind'];
  readonly why: string;
  readonly outcome: Word;
  readonly trigger: Trigger['by'] | null;
  readonly left: Listed<Left>;
  readonly doubts: Listed<Doubt>;
  /** How many files Fluentd followed, and the outputs that are known. */
  readonly files: number;
  readonly outputs: readonly string[];
  readonly durationsMs: Readonly<Partial<Record<StateName, Millis>>>;
}

export type Durations = Outcome['durationsMs'];

/** The outcome of a run that ended in `stopped`, by the look that was taken when Fluentd was gone. */
export function outcomeOf(
  { end, result }: Extract<State, { name: 'stopped' }>,
  { seen, policy, durations }: { seen: Observation; policy: Policy; durations: Durations },
): Outcome {
  const progress = progressOf(seen, policy);
  const doubted = [...(result?.trigger.by === 'hook' ? [MAIN_MAY_RUN] : []), ...progress.doubts];
  const { word, left, doubts } = verdictOf({ ...progress, doubts: doubted }, result?.owed, end.kind);
  const { files, outputs } = progress;
  return {
    version: 1,
    end: end.kind,
    why: end.why,
    outcome: word,
    trigger: result?.trigger.by ?? null,
    // Chunks' ids are for the drain.
    left: listed(left.map((one) => (one.kind === 'held' ? { ...one, ids: undefined } : one))),
    doubts: listed(doubts),
    files,
    outputs,
    durationsMs: Object.fromEntries(Object.entries(durations).map(([name, ms]) => [name, Math.round(ms)])),
  };
}

/** No look can see it. */
const MAIN_MAY_RUN: Doubt = {
  kind: 'main-may-run',
  about: 'main',
  why: 'nobody said that it has ended: what it wrote last may be missing',
};

type KeptRecords = Extract<Left, { kind: 'kept' }>;

const BY_FORCE: Readonly<Partial<Record<End['kind'], Doubt>>> = {
  killed: { kind: 'killed', why: 'Fluentd had to be killed: nobody saw what it still held' },
  survived: { kind: 'killed', why: 'Fluentd is still there after SIGKILL' },
};

export function verdictOf(progress: Progress, owed: Owed | undefined, end: End['kind']) {
  const { left: all, doubts: raised } = withoutLater(progress, owed);
  // A Fluentd that runs on emits it when it stops.
  const runsOn = end !== 'ended-by-itself' && !isStoppedByPosidle({ end });
  const isDoubted = (one: Left): one is KeptRecords => runsOn && one.kind === 'kept';
  const left = all.filter((one) => !isDoubted(one));
  const doubts = [
    ...raised,
    ...all.filter(isDoubted).map(asDoubt),
    ...(BY_FORCE[end] ? [BY_FORCE[end]] : []),
  ];
  const word: Word = left.length > 0 ? 'not-drained' : doubts.length > 0 ? 'unproven' : 'drained';
  return { word, left, doubts };
}

function asDoubt({ where }: KeptRecords): Doubt {
  return { kind: 'kept', about: where, why: 'Fluentd emits what it keeps when it stops; nobody saw that' };
}

export const EXIT = { ok: 0, bug: 1, usage: 2, left: 3, noFluentd: 4, notPermitted: 5 } as const;

/** posidle could not do its work: there is no verdict. */
const FAILURES: Readonly<Partial<Record<End['kind'], number>>> = {
  'no-fluentd': EXIT.noFluentd,
  'not-permitted': EXIT.notPermitted,
  'not-proven': EXIT.notPermitted,
  ambiguous: EXIT.usage,
  'no-fluentd-named': EXIT.usage,
};

export function isFailure({ end }: Outcome): boolean {
  return FAILURES[end] !== undefined;
}

export function exitCodeOf({ end, outcome }: Outcome, { strict }: { readonly strict: boolean }): number {
  const isLeft = end === 'survived' || (strict && outcome !== 'drained');
  return FAILURES[end] ?? (isLeft ? EXIT.left : EXIT.ok);
}

export function isWarning(outcome: Outcome): boolean {
  return outcome.outcome !== 'drained' || isFailure(outcome);
}

export function isStoppedByPosidle({ end }: Pick<Outcome, 'end'>): boolean {
  return end === 'stopped' || end === 'killed' || end === 'survived';
}

export function describeOutcome(outcome: Outcome): string {
  const { why, outcome: word, durationsMs: durations } = outcome;
  if (isFailure(outcome)) return why;
  const took = formatDuration((durations.stopping ?? 0) + (durations.killing ?? 0));
  const ended = `${why}${isStoppedByPosidle(outcome) ? ` after ${took}` : ''}`;
  return `${ended}; ${word.replace('-', ' ')}: ${reasonOf(outcome)}`;
}

function reasonOf({ left, doubts, files, outputs }: Outcome): string {
  const reasons = [
    left.count > 0 && describeLeft(left),
    doubts.count > 0 && `${left.count > 0 ? 'not proven: ' : ''}${describeDoubts(doubts)}`,
  ].filter((reason) => reason !== false);
  if (reasons.length > 0) return reasons.join('; ');
  const empty = outputs.length === 0 ? '' : `, ${counted(outputs.length, 'buffer')} empty`;
  return `${counted(files, 'file')} read${empty}`;
}
