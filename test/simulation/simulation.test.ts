import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Coverage, TRANSITIONS } from './coverage.ts';
import { play } from './lifetime.ts';
import { planOf } from './plan.ts';

/** The same ones each time: a new seed may find something, and that is for `npm run simulate`. */
const SEEDS = 1_500;

test(`no promise is broken in the simulated lifetimes 1 to ${SEEDS}, which reach all there is`, async () => {
  const coverage = new Coverage();
  const broken: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const played = await play(planOf(seed), false, coverage);
    if (played.broken !== undefined) broken.push(`npm run simulate -- --seed ${seed}: ${played.broken}`);
  }
  expect(broken).toEqual([]);
  expect(coverage.missing).toEqual([]);
  expect(coverage.unforeseen).toEqual([]);
}, 900_000);

test('the diagram in ARCHITECTURE.md shows every change of state that they bring about, and no other', () => {
  const [, diagram = ''] =
    /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(readFileSync('ARCHITECTURE.md', 'utf8')) ?? [];
  const arrows = [...diagram.matchAll(/^ *([a-z]+ --> [a-z]+)/gm)].map(([, arrow]) => arrow);
  expect([...new Set(arrows)].sort()).toEqual(TRANSITIONS.toSorted());
});
