import type { Observation } from '../look/observation.ts';
import type { Millis } from '../text/units.ts';

const MOST_SAMPLES = 60;
/** A rate is that of this time: in_tail looks once a second and reads in small steps. */
const WINDOW: Millis = 10_000;

interface Sample {
  readonly at: Millis;
  readonly read: number;
  readonly lag: number;
}

/** Consecutive looks with the same result. Most files do not change, so this saves memory. */
interface Run extends Sample {
  until: Millis;
}

/** How fast Fluentd reads, over the last WINDOW. */
export class Rate {
  readonly #runs: Run[] = [];

  add({ at, read, lag }: Sample): void {
    const last = this.#runs.at(-1);
    if (last?.read === read && last.lag === lag) last.until = at;
    else this.#runs.push({ at, read, lag, until: at });
    while (this.#runs.length > MOST_SAMPLES || (this.#runs[0]?.until ?? at) < at - WINDOW) this.#runs.shift();
  }

  /** Bytes read as of the last sample. */
  get read(): number {
    return this.#runs.at(-1)?.read ?? 0;
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

/** The rates of all files, from repeated looks. */
export class Rates {
  /** `read`: the bytes that Fluentd has read since the first look. */
  readonly total = new Rate();
  readonly #files = new Map<string, Rate>();
  /** By path, since when in_tail has not found the file. */
  #unfound: ReadonlyMap<string, Millis> = new Map();
  #at: Millis | undefined;

  take({ at, files, undiscovered, memory }: Observation): void {
    const isFirst = this.#at === undefined;
    const waiting = undiscovered.filter(({ size }) => size > 0);
    this.#at = at;
    this.#unfound = new Map(waiting.map(({ path }) => [path, this.#unfound.get(path) ?? at]));
    let read = this.total.read;
    let left = waiting.reduce((sum, { size }) => sum + size, 0);
    for (const { key, position, lag } of files) {
      left += lag ?? 0;
      if (position === null) continue;
      const rate = this.#files.get(key) ?? new Rate();
      this.#files.set(key, rate);
      // in_tail reads a new or truncated file from its start.
      if (!isFirst) read += position - (position < rate.read ? 0 : rate.read);
      rate.add({ at, read: position, lag: lag ?? 0 });
    }
    this.total.add({ at, read, lag: left });
    if (this.#files.size > files.length)
      for (const key of this.#files.keys()) if (!memory.entries.has(key)) this.#files.delete(key);
  }

  of(key: string): Rate | undefined {
    return this.#files.get(key);
  }

  /** How long in_tail has not found a file with bytes in it. */
  get unfoundFor(): Millis {
    const at = this.#at ?? 0;
    return [...this.#unfound.values()].reduce((longest, since) => Math.max(longest, at - since), 0);
  }
}
