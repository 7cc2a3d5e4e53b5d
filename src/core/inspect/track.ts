import type { Millis } from '../text/units.ts';

/** How fast something is read, and when that is done. */
export interface Pace {
  /** Bytes read a second; null: not known yet. */
  readonly rate: number | null;
  /** When nothing will be left if it goes on like this; null: not in sight. */
  readonly eta: Millis | null;
}

const SAMPLES = 60;
/** in_tail reads once a second at rest: a rate over less would be all or nothing. */
const WINDOW: Millis = 5_000;

interface Sample {
  readonly at: Millis;
  readonly read: number;
  readonly lag: number;
}

/** Looks that found the same, one after the other: nearly all files stand still. */
interface Run extends Sample {
  until: Millis;
}

/** A row of looks at how much is read and how much is left. */
export class Track {
  readonly #runs: Run[] = [];
  readonly #most: number;

  /** `most`: so many samples are kept. */
  constructor(most = SAMPLES) {
    this.#most = Math.min(most, SAMPLES);
  }

  add({ at, read, lag }: Sample): void {
    const last = this.#runs.at(-1);
    if (last?.read === read && last.lag === lag) {
      last.until = at;
      return;
    }
    this.#runs.push({ at, read, lag, until: at });
    if (this.#runs.length > this.#most) this.#runs.shift();
  }

  pace(): Pace {
    const last = this.#runs.at(-1);
    if (last === undefined) return { rate: null, eta: null };
    const first = this.#since(last.until - WINDOW) ?? last;
    const span = last.until - first.at;
    const rate = span > 0 ? Math.max(0, (1_000 * (last.read - first.read)) / span) : null;
    const gain = span > 0 ? (first.lag - last.lag) / span : 0;
    const eta = last.lag > 0 && gain > 0 ? last.lag / gain : null;
    return { rate, eta };
  }

  /** The lag of the last look, and of one so long before, or of the first. */
  lagsOver(span: Millis): { readonly before: number; readonly now: number } {
    const last = this.#runs.at(-1);
    if (last === undefined) return { before: 0, now: 0 };
    return { now: last.lag, before: this.#since(last.until - span)?.lag ?? last.lag };
  }

  /** What was seen then, or at the first look after it. */
  #since(at: Millis): Sample | undefined {
    const run = this.#runs.find(({ until }) => until >= at);
    return run && { ...run, at: Math.max(run.at, at) };
  }
}
