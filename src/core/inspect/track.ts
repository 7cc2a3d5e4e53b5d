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
  #last: Sample | undefined;
  /** So many samples were the same up to the last, which came so long after the one before. */
  #count = 0;
  #gap: Millis = 0;
  /** Only of what has moved: of 50,000 files nearly all stand still. */
  #ring: Ring | undefined;

  add(sample: Sample): void {
    const last = this.#last;
    if (this.#ring === undefined && last !== undefined && !isSame(last, sample)) this.#remember(last);
    this.#ring?.push(sample);
    this.#last = sample;
    this.#count += 1;
    this.#gap = sample.at - (last?.at ?? sample.at);
  }

  pace(): Pace {
    const last = this.#last;
    if (last === undefined) return NO_PACE;
    const lags = this.#ring?.lags() ?? Array<number>(Math.min(this.#count, SAMPLES)).fill(last.lag);
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
    const now = this.#last?.lag ?? 0;
    return { now, before: this.#ring?.since((this.#last?.at ?? 0) - span)?.lag ?? now };
  }

  /** What is left of as much as there was when its size was last known. */
  leftFrom(position: number | null): number {
    const { read, lag } = this.#last ?? { read: 0, lag: 0 };
    return Math.max(0, lag - Math.max(0, (position ?? read) - read));
  }

  #firstStill(last: Sample): Sample {
    return { ...last, at: this.#gap > WINDOW ? last.at : last.at - this.#gap };
  }

  /** As if each sample had been kept: looks lie about evenly apart. */
  #remember(last: Sample): void {
    this.#ring = new Ring();
    for (let back = Math.min(this.#count, SAMPLES) - 1; back >= 0; back -= 1)
      this.#ring.push({ ...last, at: last.at - back * this.#gap });
  }
}

function isSame(one: Sample, other: Sample): boolean {
  return one.read === other.read && one.lag === other.lag;
}

/** The last samples; as objects they would take four times as much. */
class Ring {
  readonly #samples = new Float64Array(3 * SAMPLES);
  #pushed = 0;

  push({ at, read, lag }: Sample): void {
    this.#samples.set([at, read, lag], 3 * (this.#pushed % SAMPLES));
    this.#pushed += 1;
  }

  lags(): readonly number[] {
    return Array.from(this.#all(), ({ lag }) => lag);
  }

  /** The first one that is not older. */
  since(at: Millis): Sample | undefined {
    for (const sample of this.#all()) if (sample.at >= at) return sample;
    return undefined;
  }

  /** The oldest first. */
  *#all(): Generator<Sample> {
    for (let index = Math.max(0, this.#pushed - SAMPLES); index < this.#pushed; index += 1) {
      const [at = 0, read = 0, lag = 0] = this.#samples.subarray(3 * (index % SAMPLES));
      yield { at, read, lag };
    }
  }
}
