import type { Step } from '../../src/core/drain/moves.ts';
import type { Policy } from '../../src/core/drain/policy.ts';
import { begin, type State } from '../../src/core/drain/state.ts';
import { step } from '../../src/core/drain/step.ts';
import type { Snapshot } from '../../src/core/look/snapshot.ts';
import type { Observation } from '../../src/core/observe/observation.ts';
import { observe } from '../../src/core/observe/observe.ts';

/** One step, with all that led to it. */
export interface Taken {
  readonly from: State;
  readonly snapshot: Snapshot;
  readonly seen: Observation;
  readonly step: Step;
}

/** Steps through a world as the loop does: at each look until it stays where it is. */
export function drive(world: readonly Snapshot[], rules: Policy): readonly Taken[] {
  const taken: Taken[] = [];
  let state = begin(world[0]?.at ?? 0);
  let seen: Observation | undefined;
  for (const snapshot of world) {
    seen = observe(seen, snapshot, rules);
    for (let moved = true, count = 0; moved; count += 1) {
      if (count > 10) throw new Error(`it never stays: ${state.name}`);
      const next = step(state, seen, rules);
      taken.push({ from: state, snapshot, seen, step: next });
      moved = next.state.name !== state.name;
      state = next.state;
    }
  }
  return taken;
}
