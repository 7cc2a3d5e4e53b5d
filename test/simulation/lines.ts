import type { Millis } from '../../src/core/text/units.ts';
import type { Clock } from './clock.ts';

/** What became of a line. */
export type Fate = 'written' | 'buffered' | 'delivered' | 'set aside' | 'thrown away' | 'lost in memory';

interface Line {
  readonly writtenAt: Millis;
  fate: Fate;
  /** Why posidle cannot know that it is lost in this way. */
  excuses?: Partial<Record<Fate, string>>;
}

/** Bytes of each line, its newline included. */
export const LINE_BYTES = 10;

/** The truth: every line that main ended with a newline, and what became of it. */
export class Lines {
  readonly all: Line[] = [];
  /** When a line was last written, or something became of it. */
  changedAt: Millis = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get areDelivered(): boolean {
    return this.all.every(({ fate }) => fate === 'delivered');
  }

  write(at: Millis): number {
    this.changedAt = at;
    return this.all.push({ writtenAt: at, fate: 'written' }) - 1;
  }

  /** Delivered is for good: what is read twice may be lost once. */
  become(ids: readonly number[], fate: Fate): void {
    for (const id of ids) {
      const line = this.all[id];
      if (line === undefined || line.fate === 'delivered') continue;
      line.fate = fate;
      this.changedAt = this.#clock.now;
    }
  }

  excuse(ids: readonly number[], fate: Fate, why: string): void {
    for (const id of ids) {
      const line = this.all[id];
      if (line !== undefined) line.excuses = { [fate]: why, ...line.excuses };
    }
  }
}
