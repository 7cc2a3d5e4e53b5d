import type { Word } from '../../src/core/drain/outcome.ts';
import type { Left } from '../../src/core/progress/progress.ts';
import type { Ended } from '../support/deliver.ts';
import type { Situation } from './situation.ts';

/** What is not as the situation says. Never is a lost line "drained", whatever it says. */
export function faultsOf(situation: Situation, ended: Ended): readonly string[] {
  const { lost, code, outcome: said, seconds } = ended;
  const expected = expectedWhere(lost, said?.left.worst ?? [], situation);
  const [least, most] = situation.within ?? [0, 45];
  const named = [...(said?.left.worst ?? []), ...(said?.doubts.worst ?? [])].map((one) =>
    JSON.stringify(one),
  );
  const faults: readonly [isSo: boolean, fault: string][] = [
    [lost > 0 && said?.outcome === 'drained', `"drained", and ${lost} lines are lost`],
    [!expected.outcomes.includes(said?.outcome), `it says ${said?.outcome}, not ${expected.outcomes}`],
    [code !== (said?.outcome === 'drained' ? 0 : 3), `the exit code is ${code}`],
    [
      expected.lost === 'some' ? lost === 0 : lost !== expected.lost,
      `${lost} lines are lost, not ${expected.lost}`,
    ],
    [
      !named.some((text) => text.includes(expected.told)) && expected.told !== '',
      `it does not say ${expected.told}`,
    ],
    [seconds < least || seconds > most, `it takes ${seconds} s, not ${least} to ${most}`],
  ];
  return faults.flatMap(([isSo, fault]) => (isSo ? [fault] : []));
}

interface Expected {
  readonly outcomes: readonly (Word | undefined)[];
  readonly lost: number | 'some';
  readonly told: string;
}

function expectedWhere(
  lost: number,
  left: readonly Left[],
  { outcome = 'drained', lost: expected = 0, told = '' }: Situation,
): Expected {
  if (outcome !== 'drained or told') return { outcomes: [outcome], lost: expected, told };
  // in_tail may have opened the file that was renamed, or the one that took its place.
  if (lost > 0) return { outcomes: ['unproven', 'not-drained'], lost, told };
  // A buffer may hold an event of Fluentd's own log, and no line.
  const isHeld = left.length > 0 && left.every(({ kind }) => kind === 'held');
  return { outcomes: [isHeld ? 'not-drained' : 'drained'], lost, told: isHeld ? told : '' };
}
