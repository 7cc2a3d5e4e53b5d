import type { Millis } from '../text/units.ts';

interface Point {
  /** The last look that found the file of this size. */
  at: Millis;
  readonly size: number;
}

/** Above this the history drops every second point: over hours, seconds do not matter. */
const MOST_POINTS = 120;

/** The sizes of one file over time. The oldest unread byte came when the size passed the position: that gives its age, or one look more. */
export class SizeHistory {
  /** Has only the last of the sizes up to the position. */
  #points: Point[] = [];
  /** The least time between two points. */
  #gap: Millis = 0;

  /** Adds a look. Gives how long the oldest unread byte has waited; null if the history is too short. */
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
    // The file was truncated, so all of its bytes are new.
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
