import type { Millis } from '../text/units.ts';

/** At most so many samples are kept. */
const SAMPLES = 60;
/** What has waited for longer is behind: in_tail looks each second, and reads a little at a time. */
export const WINDOW: Millis = 10_000;

interface Sample {
  readonly at: Millis;
  readonly read: number;
  readonly lag: number;
}

/** Looks that found the same, one after the other: nearly all files stand still. */
interface Run extends Sample {
  until: Millis;
}

/** The looks of a window at how much is read and how much is left. */
export class Track {
  readonly #runs: Run[] = [];

  add({ at, read, lag }: Sample): void {
    const last = this.#runs.at(-1);
    if (last?.read === read && last.lag === lag) last.until = at;
    else this.#runs.push({ at, read, lag, until: at });
    while (this.#runs.length > SAMPLES || (this.#runs[0]?.until ?? at) < at - WINDOW) this.#runs.shift();
  }

  /** Bytes read a second; and when nothing will be left if it goes on like this, or null where the lag does not fall. */
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
