import { describe, expect, it } from 'vitest';
import { type Cell, cells, runCell, type Selection } from '../loss/matrix.ts';
import { missingFluentd, TESTED_VERSIONS } from '../support/real-fluentd.ts';

const RUN_LIMIT = 7 * 60_000;
const SCALES = { time: 0.05, volume: 0.1, runs: 1 };
/** A burst, a new file, a file buffer, a main that sleeps. */
const FOR_TRIGGERS = [2, 3, 4, 15];

for (const version of TESTED_VERSIONS) {
  const missing = missingFluentd(version);
  const chosen = (selection: Partial<Selection>) =>
    missing === undefined ? cells({ ...SCALES, version: [version], ...selection }).filter(isPromised) : [];

  describe.skipIf(missing !== undefined)(`posidle loses nothing, Fluentd ${version}`, () => {
    it.each(titled(chosen({ strategy: ['posidle'] })))('$title', ({ cell }) => losesNothing(cell), RUN_LIMIT);
    if (missing !== undefined) it(missing, () => undefined);
  });

  // The triggers wait, more than they work: side by side they take a third of the time.
  describe.skipIf(missing !== undefined)(
    `whatever the trigger, Fluentd ${version}`,
    { concurrent: true },
    () => {
      it.each(titled(chosen({ triggers: true, only: FOR_TRIGGERS })))(
        '$title',
        ({ cell }) => losesNothing(cell),
        RUN_LIMIT,
      );
    },
  );
}

function isPromised({ strategy, scenario }: Cell): boolean {
  return strategy.promises(scenario);
}

function titled(all: readonly Cell[]) {
  return all.map((cell) => ({
    cell,
    title: `${cell.scenario.id}: ${cell.scenario.title}, ${cell.strategy.title}`,
  }));
}

async function losesNothing(cell: Cell): Promise<void> {
  const { lost, endless, exit, said } = await runCell(cell, SCALES);
  expect({ lost, endless, exit }, said).toEqual({
    lost: 0,
    endless: false,
    exit: { code: 0, signal: null },
  });
}
