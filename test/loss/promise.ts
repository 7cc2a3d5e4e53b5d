import { expect } from 'vitest';
import { missingFluentd } from '../support/real-fluentd.ts';
import { type Cell, cells, runCell, type Selection } from './matrix.ts';

/** For one cell: main may take its time, and a Pod six minutes. */
export const RUN_LIMIT = 7 * 60_000;
const SCALES = { time: 0.05, volume: 0.1, runs: 1 };

export interface Promised {
  cell: Cell;
  title: string;
}

/** Of the cells of a version, if it is installed, those in which posidle promises to lose nothing; scaled down. */
export function promised(version: string, selection: Partial<Selection>): Promised[] {
  if (missingFluentd(version) !== undefined) return [];
  return cells({ ...SCALES, version: [version], ...selection })
    .filter(({ strategy, scenario }) => strategy.promises(scenario) !== undefined)
    .map((cell) => ({ cell, title: `${cell.scenario.id}: ${cell.scenario.title}, ${cell.strategy.title}` }));
}

/** `volume`: how much work there is, as a part of the whole. */
export async function expectKept(cell: Cell, volume = SCALES.volume): Promise<void> {
  const { broken, said } = await runCell(cell, { ...SCALES, volume });
  expect(broken, said).toEqual([]);
}
