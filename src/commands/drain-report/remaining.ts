import {
  absenceDeadline,
  drainDeadline,
  signalsIn,
  startDeadline,
  stopDeadline,
} from '../../core/drain/deadlines.ts';
import { bytesLeft, drainGate, hasBytesLeft } from '../../core/drain/gates.ts';
import type { Policy } from '../../core/drain/policy.ts';
import type { Draining, State } from '../../core/drain/state.ts';
import { Track } from '../../core/inspect/track.ts';
import type { Observation } from '../../core/observe/observation.ts';
import { progressOf } from '../../core/observe/progress-of.ts';
import { heldIn } from '../../core/progress/progress.ts';
import { formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';
import { describeFluentd } from './describe-fluentd.ts';

const BAR = 20;

/** How far the wait is. */
export interface Told {
  readonly text: string;
  /** What is left will take longer than the time that remains. */
  readonly isTooLate: boolean;
}

interface Began {
  readonly what: string;
  readonly at: Millis;
  readonly left: number;
  readonly track: Track;
}

/** What is waited for, for how long, how fast it goes, and how long it may take. */
export class Remaining {
  readonly #policy: Policy;
  readonly #bar: boolean;
  #began: Began | undefined;

  /** `bar`: for a terminal. */
  constructor(policy: Policy, bar: boolean) {
    this.#policy = policy;
    this.#bar = bar;
  }

  /** Each look, so that the speed counts from the beginning. */
  looked(state: State, seen: Observation): void {
    if (state.name !== 'draining') return;
    const { what, left } = remainder(state, seen, this.#policy);
    const began = this.#began;
    if (began === undefined || began.what !== what || began.at < state.since || left > began.left)
      this.#began = { what, at: seen.at, left, track: new Track() };
    this.#began?.track.add({ at: seen.at, read: 0, lag: left });
  }

  describe(state: State, seen: Observation): Told {
    switch (state.name) {
      case 'draining':
        return this.#drain(state, seen);
      case 'watching':
        return inTime(describeQuiet(state, seen, this.#policy));
      case 'waiting':
        return inTime(`${this.#spent(state, seen)}: ${missing(seen)}`);
      default:
        return inTime(`${this.#spent(state, seen)}: ${describeFluentd(seen)}`);
    }
  }

  #drain(state: Draining, seen: Observation): Told {
    const why = drainGate(state, seen, this.#policy)?.why ?? 'nothing is left';
    const started = `${this.#spent(state, seen)}: ${why}`;
    const { what, left } = remainder(state, seen, this.#policy);
    const began = this.#began;
    const eta = began?.what === what ? began.track.pace().eta : null;
    if (began === undefined || eta === null) return inTime(started);
    const speed = `${formatBytes(Math.round((1_000 * left) / eta))}/s, about ${formatDuration(eta)} to go`;
    const bar = this.#bar ? `; ${barOf(1 - left / began.left)}` : '';
    const remaining = drainDeadline(state.trigger, seen, this.#policy) - seen.at;
    const isTooLate = eta > remaining;
    const option = signalsIn(seen).length > 0 ? '--grace' : '--drain-timeout';
    const tooLate = isTooLate
      ? `, but only ${formatDuration(Math.max(0, remaining))} remain (${option})`
      : '';
    return { text: `${started}; ${speed}${tooLate}${bar}`, isTooLate };
  }

  /** `still draining after 20 s of 5 min`. */
  #spent(state: State, seen: Observation): string {
    const deadline = deadlineOf(state, seen, this.#policy);
    const of = deadline === undefined ? '' : ` of ${formatDuration(deadline - state.since)}`;
    return `still ${state.name} after ${formatDuration(seen.at - state.since)}${of}`;
  }
}

function inTime(text: string): Told {
  return { text, isTooLate: false };
}

function deadlineOf(state: State, seen: Observation, policy: Policy): Millis | undefined {
  if (state.name === 'draining') return drainDeadline(state.trigger, seen, policy);
  if (state.name === 'stopping') return stopDeadline(state, seen, policy);
  if (state.name !== 'waiting') return undefined;
  if (seen.fluentd.kind === 'absent') return absenceDeadline(state, seen, policy);
  return policy.quiet === 'off' ? undefined : startDeadline(state, policy);
}

/** Bytes that are still to be read, then those that are still to be delivered. */
function remainder(state: Draining, seen: Observation, policy: Policy): { what: string; left: number } {
  const gate = drainGate(state, seen, policy);
  if (gate !== undefined && !OF_DELIVERY.has(gate.name)) return { what: 'unread', left: bytesLeft(seen) };
  const held = heldIn(progressOf(seen, policy).left);
  return { what: 'undelivered', left: held.reduce((sum, { bytes }) => sum + bytes, 0) };
}

const OF_DELIVERY: ReadonlySet<string> = new Set(['settle', 'flush', 'buffers']);

/** `quiet for 20 s of 60 s`. */
function describeQuiet({ since }: State, seen: Observation, { quiet }: Policy): string {
  const left = hasBytesLeft(seen) ? `; ${formatBytes(bytesLeft(seen))} are left to read` : '';
  if (quiet === 'off') return `no trigger for ${formatDuration(seen.at - since)}${left}`;
  const silence = Math.max(0, seen.at - (seen.movedAt ?? since));
  return `quiet for ${formatDuration(silence)} of ${formatDuration(quiet)}${left}`;
}

function missing({ fluentd, unknown: [doubt] }: Observation): string {
  if (fluentd.kind === 'absent') return fluentd.why;
  return doubt === undefined ? 'nothing is logged yet' : `${doubt.path} ${doubt.why}`;
}

function barOf(share: number): string {
  const full = Math.round(share * BAR);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${Math.round(share * 100)} %`;
}
