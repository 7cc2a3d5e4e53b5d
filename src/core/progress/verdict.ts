import { type Doubt, type Left, type Owed, type Progress, withoutLater } from './progress.ts';

/**
 * `drained`: every line that was written was read, and every output has sent what it took. `not drained`: something plainly lies
 * there. `unproven`: neither.
 */
export type Word = 'drained' | 'unproven' | 'not drained';

export interface Verdict {
  readonly word: Word;
  readonly left: readonly Left[];
  readonly doubts: readonly Doubt[];
}

/** What became of all lines. `isRunning`: Fluentd goes on, and its own stop will deliver what it keeps. */
export function verdictOf(progress: Progress, owed: Owed | undefined, isRunning: boolean): Verdict {
  const { left: all, doubts: raised } = withoutLater(progress, owed);
  const isDoubted = ({ kind }: Left) => kind === 'starting' || (isRunning && kind === 'kept');
  const left = all.filter((one) => !isDoubted(one));
  const doubts = [...raised, ...all.filter(isDoubted).flatMap(asDoubt)];
  const word = left.length > 0 ? 'not drained' : doubts.length > 0 ? 'unproven' : 'drained';
  return { word, left, doubts };
}

function asDoubt(one: Left): readonly Doubt[] {
  if (one.kind === 'starting')
    return [{ kind: 'not-started', about: one.worker, why: 'it had not started all its inputs' }];
  if (one.kind !== 'kept') return [];
  return [
    { kind: 'kept', about: one.where, why: 'Fluentd emits what it keeps when it stops; nobody saw that' },
  ];
}
