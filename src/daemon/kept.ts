import { COARSEST_TICK } from '../core/look/file-times.ts';
import type { Millis } from '../core/text/units.ts';

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
