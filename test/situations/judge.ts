import type { Ended } from '../support/deliver.ts';
import type { Situation } from './situation.ts';

/** What is not as the situation says. Never is a lost line "drained", whatever it says. */
export function faultsOf(situation: Situation, ended: Ended): readonly string[] {
  const { lost, code, outcome: said, seconds } = ended;
  const expected = expectedWhere(lost, situation);
  const [least, most] = situation.within ?? [0, 45];
  const named = [...(said?.left.worst ?? []), ...(said?.doubts.worst ?? [])].map((one) =>
    JSON.stringify(one),
  );
  const faults: readonly [isSo: boolean, fault: string][] = [
    [lost > 0 && said?.outcome === 'drained', `"drained", and ${lost} lines are lost`],
    [said?.outcome !== expected.outcome, `it says ${said?.outcome}, not ${expected.outcome}`],
    [code !== (expected.outcome === 'drained' ? 0 : 3), `the exit code is ${code}`],
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

function expectedWhere(lost: number, { outcome = 'drained', lost: expected = 0, told = '' }: Situation) {
  if (outcome !== 'drained or told') return { outcome, lost: expected, told };
  return lost === 0 ? { outcome: 'drained', lost: 0, told: '' } : { outcome: 'unproven', lost, told };
}
