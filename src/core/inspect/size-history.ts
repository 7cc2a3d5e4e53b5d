import type { Millis } from '../text/units.ts';

interface Point {
  /** The last look that found the file of this size. */
  at: Millis;
  readonly size: number;
}

/** Beyond this, points lie twice as far apart: of hours, seconds are no matter. */
const MOST_POINTS = 120;

/** How long ago a file was as long as what is read of it now: so long the oldest unread byte has waited, or one look less. */
export class SizeHistory {
  /** Up to the first that is longer than the position only the last is kept. */
  #points: Point[] = [];
  /** How far apart they lie at least. */
  #gap: Millis = 0;

  /** A look. Gives how far reading is behind; null: the history does not reach back so far. */
  record(at: Millis, size: number, position: number): Millis | null {
    this.#add(at, size);
    while ((this.#points[1]?.size ?? Number.POSITIVE_INFINITY) <= position) this.#points.shift();
    if (position >= size) {
      this.#gap = 0;
      return 0;
    }
    const [then] = this.#points;
    return then === undefined || then.size > position ? null : at - then.at;
  }

  #add(at: Millis, size: number): void {
    const last = this.#points.at(-1);
    // It was cut short, and all of it is new.
    if (last !== undefined && size < last.size) this.#points = [{ at: last.at, size: 0 }];
    if (last?.size === size) last.at = at;
    else this.#points.push({ at, size });
    const { length } = this.#points;
    const before = this.#points[length - 3];
    if (before !== undefined && length > 3 && at - before.at < this.#gap) this.#points.splice(length - 2, 1);
    if (length <= MOST_POINTS) return;
    this.#points = this.#points.filter((_, index) => index % 2 === 0 || index === length - 1);
    this.#gap = (2 * (at - (this.#points[0]?.at ?? at))) / MOST_POINTS;
  }
}
