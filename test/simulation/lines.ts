import type { Millis } from '../../src/core/text/units.ts';
import type { Clock } from './clock.ts';
import type { LogFile } from './log-files.ts';

/** The fate of a line. */
type Fate = 'written' | 'buffered' | 'delivered' | 'set aside' | 'thrown away' | 'lost in memory';

export interface Line {
  readonly file: LogFile;
  readonly writtenAt: Millis;
  fate: Fate;
  /** No look shows that it ever was there. */
  isUnseen: boolean;
}

/** The truth: every line that main ended with a newline, and what became of it. */
export class Lines {
  readonly all: Line[] = [];
  /** When a line was last written, or something became of it. */
  changedAt: Millis = 0;
  /** Some were, be it a second time. */
  areThrownAway = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get areDelivered(): boolean {
    return this.all.every(({ fate }) => fate === 'delivered');
  }

  write(file: LogFile): number {
    const { now } = this.#clock;
    this.changedAt = now;
    return this.all.push({ file, writtenAt: now, fate: 'written', isUnseen: file.isUnseen }) - 1;
  }

  areUnseen(ids: readonly number[]): void {
    for (const id of ids) (this.all[id] as Line).isUnseen = true;
  }

  /** Delivered is for good: what is read twice may be lost once. */
  become(ids: readonly number[], fate: Fate): void {
    if (fate === 'thrown away' || fate === 'set aside') this.areThrownAway = true;
    for (const id of ids) {
      const line = this.all[id];
      if (line === undefined || line.fate === 'delivered') continue;
      line.fate = fate;
      this.changedAt = this.#clock.now;
    }
  }
}
