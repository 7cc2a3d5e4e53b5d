export const NONE = -1;

/** Finds rows by what they hold: open addressing over one typed array, where a Map of a million strings takes 200 MB. */
export class RowTable {
  readonly #rows: Int32Array;

  constructor(most: number) {
    this.#rows = new Int32Array(2 ** Math.ceil(Math.log2(most + 1) + 1)).fill(NONE);
  }

  /** The row with this hash that is the same, or NONE. */
  find(hash: number, isSame: (row: number) => boolean): number {
    return this.#rows[this.#slot(hash, isSame)] as number;
  }

  /** Puts a row in the place of the same one, and gives that one, or NONE. */
  put(row: number, hash: number, isSame: (row: number) => boolean): number {
    const slot = this.#slot(hash, isSame);
    const before = this.#rows[slot] as number;
    this.#rows[slot] = row;
    return before;
  }

  #slot(hash: number, isSame: (row: number) => boolean): number {
    const mask = this.#rows.length - 1;
    let slot = mixed(hash) & mask;
    for (let row = this.#rows[slot] as number; row !== NONE; row = this.#rows[slot] as number) {
      if (isSame(row)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }
}

/** Neighbours are to lie far apart (the end of MurmurHash3). */
function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return whole ^ (whole >>> 16);
}
