import { describe, expect, it } from 'vitest';
import { type Cell, cells, runCell, type Selection } from '../loss/matrix.ts';
import { missingFluentd, TESTED_VERSIONS } from '../support/real-fluentd.ts';

const RUN_LIMIT = 7 * 60_000;
const SCALES = { time: 0.05, volume: 0.1, runs: 1 };
/** A burst, a new file, a file buffer, a main that sleeps. */
const FOR_TRIGGERS = [2, 3, 4, 15];

for (const version of TESTED_VERSIONS) {
  const missing = missingFluentd(version);
  describe.skipIf(missing !== undefined)(`posidle loses nothing, Fluentd ${version}`, () => {
    it.each(titled(chosen(version, { strategy: ['posidle'] })))(
      '$title',
      ({ cell }) => losesNothing(cell),
      RUN_LIMIT,
    );
    if (missing !== undefined) it(missing, () => undefined);
  });
}

const newest = TESTED_VERSIONS.at(-1) ?? '';

// They wait, more than they work: side by side they take a third of the time.
describe.skipIf(missingFluentd(newest) !== undefined)(
  `posidle loses nothing, whatever the trigger, Fluentd ${newest}`,
  { concurrent: true },
  () => {
    it.each(titled(chosen(newest, { triggers: true, only: FOR_TRIGGERS })))(
      '$title',
      ({ cell }) => losesNothing(cell),
      RUN_LIMIT,
    );
  },
);

/** Of the cells of a version, if it is installed, those that promise. */
function chosen(version: string, selection: Partial<Selection>): readonly Cell[] {
  if (missingFluentd(version) !== undefined) return [];
  return cells({ ...SCALES, version: [version], ...selection }).filter(({ strategy, scenario }) =>
    strategy.promises(scenario),
  );
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
