import type { Millis } from '../core/text/units.ts';

/** Two writes may get the same time: within a tick of 10 ms on Linux, within 2 s on the coarsest file system (FAT). */
const COARSEST_TICK: Millis = 2_500;

/** What was read of something, for as long as its stamp is the same. A stamp that had not stood for long when it was read may hide a later write. */
export class Kept<T> {
  #stamp: string | undefined;
  #since: Millis = 0;
  #sure: T | undefined;

  /** undefined: it has to be read. */
  get(stamp: string | undefined, at: Millis): T | undefined {
    if (stamp === undefined || stamp !== this.#stamp) {
      this.#stamp = stamp;
      this.#since = at;
      this.#sure = undefined;
    }
    return this.#sure;
  }

  /** What was read after the last `get`, which came at this time. */
  set(value: T, at: Millis): void {
    const isSure = this.#stamp !== undefined && at - this.#since >= COARSEST_TICK;
    this.#sure = isSure ? value : undefined;
  }
}
