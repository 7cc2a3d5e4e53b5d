import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { Observation } from '../../../src/core/observe/observation.ts';
import { observe } from '../../../src/core/observe/observe.ts';
import type { Millis } from '../../../src/core/text/units.ts';
import { RUNS } from '../../support/arbitraries.ts';
import { worldRules, worlds } from '../../support/worlds.ts';

describe('a look that finds the very same as the one before', () => {
  test('means what it would mean if everything were judged anew', () => {
    const spans = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 4 });
    let atRest = 0;
    fc.assert(
      fc.property(worlds, worldRules, spans, (world, rules, after) => {
        let seen: Observation | undefined;
        for (const snapshot of world) {
          seen = observe(seen, snapshot, rules);
          let [short, long] = [seen, seen];
          for (const same of again(snapshot, after)) {
            if (short.atRest !== undefined) atRest += 1;
            short = observe(short, same, rules);
            long = observe(long, copyOf(same), rules);
            expect(short).toEqual(long);
          }
        }
      }),
      RUNS,
    );
    expect(atRest).toBeGreaterThan(100);
  });
});

function again(snapshot: Snapshot, after: readonly Millis[]): readonly Snapshot[] {
  let at = snapshot.at;
  return after.map((span) => {
    at += span;
    return { ...snapshot, lookedAt: at, at, depth: 'rest' };
  });
}

/** Equal, and no object of it the same: everything is judged. */
function copyOf(snapshot: Snapshot): Snapshot {
  return structuredClone(snapshot);
}
