import type { Policy } from '../../src/core/drain/policy.ts';
import type { State } from '../../src/core/drain/state.ts';
import { step } from '../../src/core/drain/step.ts';
import type { Observation } from '../../src/core/look/observation.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { Clock } from './clock.ts';

const LONGEST: Millis = 1_000;

/** Leaves out the looks at a world in which nothing has happened since the look before, up to the one that the decision asks for. */
export class Pauses {
  readonly #clock: Clock;
  readonly #policy: Policy;
  #last: { readonly state: State; readonly seen: Observation } | undefined;

  constructor(clock: Clock, policy: Policy) {
    this.#clock = clock;
    this.#policy = policy;
  }

  looked(state: State, seen: Observation): void {
    this.#last = { state, seen };
  }

  /** posidle has changed its state, or done something. */
  interrupt(): void {
    this.#last = undefined;
  }

  /** When the next look can show something new. */
  next(until: Millis): Millis {
    const { now, nextAt } = this.#clock;
    if (this.#last === undefined || until === now || nextAt <= until) return until;
    const { wakeAt = Number.POSITIVE_INFINITY } = step(this.#last.state, this.#last.seen, this.#policy);
    const interval = until - now;
    const looks = Math.ceil((Math.min(nextAt, now + LONGEST) - now) / interval);
    return Math.max(until, Math.min(now + looks * interval, wakeAt));
  }
}
