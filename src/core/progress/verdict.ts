import { type Doubt, type Left, type Owed, type Progress, withoutLater } from './progress.ts';

/**
 * `drained`: every line that was written was read, and every output has sent what it took. `not-drained`: something plainly lies
 * there. `unproven`: neither.
 */
export type Word = 'drained' | 'unproven' | 'not-drained';

export interface Verdict {
  readonly word: Word;
  readonly left: readonly Left[];
  readonly doubts: readonly Doubt[];
}

type Kept = Extract<Left, { kind: 'kept' }>;

/** How the watch ended, as far as the verdict has to know it. */
export type EndKind = 'runs-on' | 'ended' | 'killed' | 'survived';

const BY_FORCE: Readonly<Partial<Record<EndKind, Doubt>>> = {
  killed: { kind: 'killed', why: 'Fluentd had to be killed: nobody saw what it still held' },
  survived: { kind: 'killed', why: 'Fluentd is still there after SIGKILL' },
};

/** What became of all lines. `owed`: the chunks that had to go. */
export function verdictOf(progress: Progress, owed: Owed | undefined, end: EndKind): Verdict {
  const { left: all, doubts: raised } = withoutLater(progress, owed);
  // A Fluentd that runs on emits it when it stops.
  const isDoubted = (one: Left): one is Kept => end === 'runs-on' && one.kind === 'kept';
  const left = all.filter((one) => !isDoubted(one));
  const force = BY_FORCE[end];
  const doubts = [...raised, ...all.filter(isDoubted).map(asDoubt), ...(force ? [force] : [])];
  const word = left.length > 0 ? 'not-drained' : doubts.length > 0 ? 'unproven' : 'drained';
  return { word, left, doubts };
}

function asDoubt({ where }: Kept): Doubt {
  return { kind: 'kept', about: where, why: 'Fluentd emits what it keeps when it stops; nobody saw that' };
}
