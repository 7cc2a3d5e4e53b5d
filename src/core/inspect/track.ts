import type { Millis } from '../text/units.ts';

/** How fast an entry is read, and how its lag has gone. */
export interface Pace {
  /** Bytes read a second; null: not known yet. */
  readonly rate: number | null;
  /** When nothing will be left if it goes on like this; null: not in sight. */
  readonly eta: Millis | null;
  /** The lag of the last looks, the oldest first. */
  readonly lags: readonly number[];
  /** How long the oldest unread byte has waited; null: not known. */
  readonly late: Millis | null;
}

export const NO_PACE: Pace = { rate: null, eta: null, lags: [], late: null };
const SAMPLES = 60;
/** in_tail reads once a second at rest: a rate over less would be all or nothing. */
const WINDOW: Millis = 5_000;

interface Sample {
  readonly at: Millis;
  readonly read: number;
  readonly lag: number;
}

/** A row of looks at how much is read and how much is left. */
export class Track {
  /** As of the last look. */
  late: Millis | null = null;
  readonly #most: number;
  // The last sample. An object a look would be one to clear away, too.
  #at: Millis = 0;
  #read = 0;
  #lag = 0;
  /** So many samples were the same up to the last, which came so long after the one before. */
  #count = 0;
  #gap: Millis = 0;
  /** Only of what has moved: of 50,000 files nearly all stand still. */
  #ring: Ring | undefined;

  /** `most`: so many samples are kept. */
  constructor(most = SAMPLES) {
    this.#most = Math.min(most, SAMPLES);
  }

  add({ at, read, lag }: Sample): void {
    const isSame = read === this.#read && lag === this.#lag;
    if (this.#ring === undefined && this.#count > 0 && !isSame) this.#remember();
    this.#ring?.push(at, read, lag);
    this.#gap = this.#count === 0 ? 0 : at - this.#at;
    this.#count += 1;
    this.#at = at;
    this.#read = read;
    this.#lag = lag;
  }

  pace(): Pace {
    if (this.#count === 0) return NO_PACE;
    const last = { at: this.#at, read: this.#read, lag: this.#lag };
    const lags = this.#ring?.lags() ?? Array<number>(Math.min(this.#count, this.#most)).fill(last.lag);
    const first = this.#ring?.since(last.at - WINDOW) ?? this.#firstStill(last);
    const span = last.at - first.at;
    const { late } = this;
    if (span <= 0) return { ...NO_PACE, lags, late };
    const rate = Math.max(0, (1_000 * (last.read - first.read)) / span);
    const gain = (first.lag - last.lag) / span;
    return { rate, eta: last.lag > 0 && gain > 0 ? last.lag / gain : null, lags, late };
  }

  /** The lag of the last look, and of one so long before, or of the first. */
  lagsOver(span: Millis): { readonly before: number; readonly now: number } {
    const now = this.#lag;
    return { now, before: this.#ring?.since(this.#at - span)?.lag ?? now };
  }

  /** What is left of as much as there was when its size was last known. */
  leftFrom(position: number | null): number {
    return Math.max(0, this.#lag - Math.max(0, (position ?? this.#read) - this.#read));
  }

  #firstStill(last: Sample): Sample {
    return { ...last, at: this.#gap > WINDOW ? last.at : last.at - this.#gap };
  }

  /** As if each sample had been kept: looks lie about evenly apart. */
  #remember(): void {
    this.#ring = new Ring(this.#most);
    for (let back = Math.min(this.#count, this.#most) - 1; back >= 0; back -= 1)
      this.#ring.push(this.#at - back * this.#gap, this.#read, this.#lag);
  }
}

/** The last samples; as objects they would take four times as much. */
class Ring {
  readonly #most: number;
  readonly #samples: number[];
  #pushed = 0;

  constructor(most: number) {
    this.#most = most;
    this.#samples = Array<number>(3 * most).fill(Number.NaN);
  }

  push(at: Millis, read: number, lag: number): void {
    const start = 3 * (this.#pushed % this.#most);
    this.#samples[start] = at;
    this.#samples[start + 1] = read;
    this.#samples[start + 2] = lag;
    this.#pushed += 1;
  }

  lags(): readonly number[] {
    return Array.from(
      { length: this.#pushed - this.#first },
      (_, index) => this.#sample(this.#first + index).lag,
    );
  }

  /** The first one that is not older. */
  since(at: Millis): Sample | undefined {
    for (let index = this.#first; index < this.#pushed; index += 1)
      if ((this.#samples[3 * (index % this.#most)] as number) >= at) return this.#sample(index);
    return undefined;
  }

  /** The oldest. */
  get #first(): number {
    return Math.max(0, this.#pushed - this.#most);
  }

  #sample(index: number): Sample {
    const start = 3 * (index % this.#most);
    const [at = 0, read = 0, lag = 0] = this.#samples.slice(start, start + 3);
    return { at, read, lag };
  }
}
