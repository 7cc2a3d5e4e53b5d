import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { begin, type State } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { Observation } from '../../../src/core/observe/observation.ts';
import { observe } from '../../../src/core/observe/observe.ts';
import { worldRules, worlds } from '../../support/arbitraries.ts';

const ARCHITECTURE = readFileSync(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8');

test('the diagram in ARCHITECTURE.md shows every change of state that a world can bring about, and no other', () => {
  // Always the same worlds: a rare change must not come and go from run to run.
  const runs = fc.sample(fc.tuple(worlds, worldRules), { seed: 1, numRuns: 2_000 });
  const made = new Set(runs.flatMap(([world, rules]) => changesIn(world, rules)));
  expect([...made].sort()).toEqual(drawn());
});

/** `waiting --> watching`, …: the arrows between two states. */
function drawn(): readonly string[] {
  const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(ARCHITECTURE) ?? [];
  const arrows = diagram.matchAll(/^ *(\w+ --> \w+)/gm);
  return [...new Set([...arrows].map(([, arrow = '']) => arrow))].sort();
}

/** The changes of state in a world; a drain that begins anew changes from draining to draining. */
function changesIn(world: readonly Snapshot[], rules: Policy): readonly string[] {
  const changes: string[] = [];
  let state: State = begin(world[0]?.at ?? 0);
  let seen: Observation | undefined;
  for (const snapshot of world) {
    seen = observe(seen, snapshot, rules);
    for (let before: State | undefined; before?.name !== state.name; ) {
      before = state;
      const { state: next, moved } = step(before, seen, rules);
      if (moved !== undefined) changes.push(`${before.name} --> ${next.name}`);
      state = next;
    }
  }
  return changes;
}
