import type { Millis } from '../text/units.ts';

const MOST_SAMPLES = 60;
/** Bytes that wait for longer are late: in_tail looks once a second and reads in small steps. */
export const WINDOW: Millis = 10_000;

interface Sample {
  readonly at: Millis;
  readonly read: number;
  readonly lag: number;
}

/** Consecutive looks with the same result. Most files do not change, so this saves memory. */
interface Run extends Sample {
  until: Millis;
}

/** The progress of reading over the last WINDOW. */
export class Track {
  readonly #runs: Run[] = [];

  add({ at, read, lag }: Sample): void {
    const last = this.#runs.at(-1);
    if (last?.read === read && last.lag === lag) last.until = at;
    else this.#runs.push({ at, read, lag, until: at });
    while (this.#runs.length > MOST_SAMPLES || (this.#runs[0]?.until ?? at) < at - WINDOW) this.#runs.shift();
  }

  /** `rate`: bytes read a second. `eta`: the time until the lag is 0 at this pace; null if the lag does not fall. */
  pace(): { readonly rate: number | null; readonly eta: Millis | null } {
    const [first] = this.#runs;
    const last = this.#runs.at(-1);
    if (first === undefined || last === undefined) return { rate: null, eta: null };
    const span = last.until - Math.max(first.at, last.until - WINDOW);
    if (span === 0) return { rate: null, eta: null };
    const rate = Math.max(0, (1_000 * (last.read - first.read)) / span);
    const gain = (first.lag - last.lag) / span;
    return { rate, eta: last.lag > 0 && gain > 0 ? last.lag / gain : null };
  }
}
