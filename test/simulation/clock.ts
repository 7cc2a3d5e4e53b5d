import type { Millis } from '../../src/core/text/units.ts';

interface Due {
  readonly at: Millis;
  readonly run: () => void;
}

/** Virtual time: what is due runs when time passes, and time passes only when somebody waits. */
export class Clock {
  now: Millis = 0;
  /** How far the wall clock has been moved. */
  jumped: Millis = 0;
  /** The latest first. */
  readonly #due: Due[] = [];

  get wall(): Millis {
    return this.now + this.jumped;
  }

  /** When the next thing is due. */
  get nextAt(): Millis {
    return this.#due.at(-1)?.at ?? Number.POSITIVE_INFINITY;
  }

  in(wait: Millis, run: () => void): void {
    this.at(this.now + wait, run);
  }

  at(given: Millis, run: () => void): void {
    const at = Math.max(given, this.now);
    this.#due.splice(this.#due.findLastIndex((other) => other.at > at) + 1, 0, { at, run });
  }

  /** Runs what is due until the instant, or until `stop` says so. */
  pass(until: Millis, stop: () => boolean = () => false): void {
    while (this.nextAt <= until) {
      if (stop()) return;
      const { at, run } = this.#due.pop() as Due;
      this.now = Math.max(this.now, at);
      run();
    }
    if (!stop()) this.now = Math.max(this.now, until);
  }
}
