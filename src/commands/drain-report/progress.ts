import { bufferGate, bytesLeft, unreadGate } from '../../core/drain/gates.ts';
import type { State } from '../../core/drain/state.ts';
import type { Observation } from '../../core/observe/observation.ts';
import { formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';

const BAR = 20;

/** How far a drain is: what is waited for, how fast it goes, and how long it may take. */
export class Progress {
  #began: { readonly at: Millis; readonly left: number } | undefined;
  readonly #bar: boolean;

  /** `bar`: for a terminal. */
  constructor(bar: boolean) {
    this.#bar = bar;
  }

  describe(state: State, seen: Observation): string {
    const gate =
      state.name === 'draining' ? (unreadGate(state, seen) ?? bufferGate(seen, state.flush)) : undefined;
    const waitedFor = gate?.why ?? 'everything is read; holding the settle time';
    return [waitedFor, ...this.#speed(state, seen)].join('; ');
  }

  #speed({ name, since }: State, seen: Observation): readonly string[] {
    const left = bytesLeft(seen);
    if (this.#began === undefined || this.#began.at < since || left > this.#began.left) {
      this.#began = { at: seen.at, left };
    }
    const { at, left: all } = this.#began;
    const rate = (all - left) / Math.max(1, seen.at - at);
    if (name !== 'draining' || rate <= 0 || left === 0) return [];
    const eta = `${formatBytes(Math.round(rate * 1_000))}/s, about ${formatDuration(left / rate)} to go`;
    return this.#bar ? [eta, barOf(1 - left / all)] : [eta];
  }
}

function barOf(share: number): string {
  const full = Math.round(share * BAR);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${Math.round(share * 100)} %`;
}
