import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drive } from '../../support/drive.ts';
import { worldRules, worlds } from '../../support/worlds.ts';

const ARCHITECTURE = readFileSync(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8');

test('the diagram in ARCHITECTURE.md shows every change of state that a world can bring about, and no other', () => {
  // Always the same worlds: a rare change must not come and go from run to run.
  const runs = fc.sample(fc.tuple(worlds, worldRules), { seed: 1, numRuns: 1_000 });
  const taken = runs.flatMap(([world, rules]) => drive(world, rules));
  // A drain that begins anew changes from draining to draining.
  const changes = taken.filter(({ step }) => step.moved !== undefined);
  const made = new Set(changes.map(({ from, step }) => `${from.name} --> ${step.state.name}`));
  expect([...made].sort()).toEqual(drawn());
});

/** `waiting --> watching`, …: the arrows between two states. */
function drawn(): readonly string[] {
  const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(ARCHITECTURE) ?? [];
  const arrows = diagram.matchAll(/^ *(\w+ --> \w+)/gm);
  return [...new Set([...arrows].map(([, arrow = '']) => arrow))].sort();
}
