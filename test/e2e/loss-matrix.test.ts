import { describe, expect, it } from 'vitest';
import { cells, runCell, type Selection } from '../loss/matrix.ts';
import { missingFluentd, TESTED_VERSIONS } from '../support/real-fluentd.ts';

const RUN_LIMIT = 7 * 60_000;

for (const version of TESTED_VERSIONS) {
  const selection: Selection = {
    time: 0.05,
    volume: 0.1,
    strategy: ['posidle'],
    version: [version],
    runs: 1,
  };
  const missing = missingFluentd(version);

  describe.skipIf(missing !== undefined)(`posidle loses nothing, Fluentd ${version}`, () => {
    const all = missing === undefined ? cells(selection) : [];
    it.each(all.map((cell) => ({ ...cell, title: `${cell.scenario.id}: ${cell.scenario.title}` })))(
      '$title',
      async (cell) => {
        const { lost, endless, exit, said } = await runCell(cell, selection);
        expect({ lost, endless, exit }, said).toEqual({
          lost: 0,
          endless: false,
          exit: { code: 0, signal: null },
        });
      },
      RUN_LIMIT,
    );
    if (missing !== undefined) it(missing, () => undefined);
  });
}
