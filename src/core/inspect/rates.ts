import type { Observation } from '../look/observation.ts';
import type { Millis } from '../text/units.ts';

const MOST_SAMPLES = 60;
/** An age is exact to this share. So a few dozen ends are enough for hours. */
const EXACT = 1 / 8;
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
  /** Ends of the file that in_tail has not reached yet, and when posidle saw them, the oldest first. */
  #unread: readonly { readonly at: Millis; readonly end: number }[] = [];

  add({ at, read, lag }: Sample): void {
    const last = this.#runs.at(-1);
    const end = read + lag;
    // A truncated file starts anew.
    const isSame = last !== undefined && read >= last.read && end >= last.read + last.lag;
    if (!isSame || (this.#unread[0]?.end ?? end) <= read)
      this.#unread = isSame ? this.#unread.filter((one) => one.end > read) : [];
    const [oldest, newest] = [this.#unread[0], this.#unread.at(-1)];
    const isNew = end > (newest?.end ?? read);
    const isFar = at - (newest?.at ?? 0) >= EXACT * (at - (oldest?.at ?? at));
    if (isNew && isFar) this.#unread = [...this.#unread, { at, end }];
    if (last?.read === read && last.lag === lag) last.until = at;
    else this.#runs.push({ at, read, lag, until: at });
    while (this.#runs.length > MOST_SAMPLES || (this.#runs[0]?.until ?? at) < at - WINDOW) this.#runs.shift();
  }

  /** Bytes read as of the last sample. */
  get read(): number {
    return this.#runs.at(-1)?.read ?? 0;
  }

  /** The age of the oldest unread byte, as far as posidle saw the file grow; null if nothing is unread. */
  get oldestUnread(): Millis | null {
    const [first] = this.#unread;
    const last = this.#runs.at(-1);
    return first === undefined || last === undefined ? null : last.until - first.at;
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
    const waiting = undiscovered.filter(({ read }) => !read);
    this.#at = at;
    this.#unfound = new Map(waiting.map(({ path }) => [path, this.#unfound.get(path) ?? at]));
    let read = this.total.read;
    let left = waiting.reduce((sum, { lag }) => sum + (lag ?? 0), 0);
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

  /** `key`: of an entry, or the path of a file that in_tail has not found. */
  oldestUnread(key: string): Millis | null {
    const since = this.#unfound.get(key);
    if (since !== undefined) return (this.#at ?? since) - since;
    return this.#files.get(key)?.oldestUnread ?? null;
  }

  /** How long in_tail has not found a file with bytes in it. */
  get unfoundFor(): Millis {
    const at = this.#at ?? 0;
    return [...this.#unfound.values()].reduce((longest, since) => Math.max(longest, at - since), 0);
  }
}
