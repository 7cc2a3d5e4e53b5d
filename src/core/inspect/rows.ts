import type { FileState, Lag } from '../look/file-state.ts';
import type { EntryRows } from '../pos-file/entry-rows.ts';
import type { Millis } from '../text/units.ts';

export const STATES: readonly FileState[] = [
  'caught-up',
  'partial-line',
  'behind',
  'blocked',
  'rotated',
  'truncated',
  'missing',
  'undiscovered',
  'unwatched',
];

/** One entry as it is shown. */
export interface ShownEntry {
  readonly path: string;
  /** null: unwatched. */
  readonly position: number | null;
  /** Decimal. */
  readonly inode: string;
  /** null where unknown. */
  readonly size: number | null;
  readonly lag: number | null;
  /** null: the log file was not looked at. */
  readonly state: FileState | null;
  /** How long ago the position moved last, as far as that can be told. */
  readonly age: Millis | null;
}

/** What the entries of a pos file come to. */
export interface Totals {
  files: number;
  /** Bytes known to be left, in how many files; and in how many it is not known. */
  lag: number;
  left: number;
  unknown: number;
  /** Files of which more will be emitted, and what is left in them: of an unfinished last line nothing is. */
  unread: number;
  toRead: number;
  /** Bytes of all files that in_tail watches, as far as known. */
  size: number;
}

export function noTotals(): Totals {
  return { files: 0, lag: 0, left: 0, unknown: 0, unread: 0, toRead: 0, size: 0 };
}

/** The entries of a pos file that count, with what was made of them. */
export class InspectedRows {
  readonly rows: EntryRows;
  readonly totals: Totals = noTotals();
  readonly #state: Uint8Array;
  readonly #size: Float64Array;
  readonly #lag: Float64Array;
  readonly #age: Float64Array;

  constructor(rows: EntryRows) {
    this.rows = rows;
    this.#state = new Uint8Array(rows.count);
    this.#size = new Float64Array(rows.count).fill(Number.NaN);
    this.#lag = new Float64Array(rows.count).fill(Number.NaN);
    this.#age = new Float64Array(rows.count).fill(Number.NaN);
  }

  /** `judged`: undefined where the log file was not looked at. */
  record(row: number, judged?: Lag, age: Millis | null = null): void {
    this.#state[row] = UNJUDGED;
    this.totals.files += 1;
    addTo(this.totals, judged ?? NOT_KNOWN);
    if (judged === undefined) return;
    const { state, size, lag } = judged;
    this.#state[row] = CODES.get(state) ?? UNJUDGED;
    this.#size[row] = size ?? Number.NaN;
    this.#lag[row] = lag ?? Number.NaN;
    this.#age[row] = age ?? Number.NaN;
  }

  isShown(row: number): boolean {
    return this.#state[row] !== HIDDEN;
  }

  /** NaN where unknown, as its neighbours. */
  lag(row: number): number {
    return this.#lag[row] as number;
  }

  size(row: number): number {
    return this.#size[row] as number;
  }

  age(row: number): number {
    return this.#age[row] as number;
  }

  state(row: number): FileState | null {
    return STATES[(this.#state[row] as number) - 1] ?? null;
  }

  at(row: number): ShownEntry {
    const { path, position, inode } = this.rows.entry(row);
    return {
      path,
      position,
      inode,
      size: known(this.#size[row]),
      lag: known(this.#lag[row]),
      state: this.state(row),
      age: known(this.#age[row]),
    };
  }

  /** The rows that are shown, as in the file. */
  order(): Uint32Array {
    const order = new Uint32Array(this.totals.files);
    let at = 0;
    for (let row = 0; row < this.rows.count; row += 1) {
      if (!this.isShown(row)) continue;
      order[at] = row;
      at += 1;
    }
    return order;
  }
}

type Judged = Pick<Lag, 'size' | 'lag' | 'read'> & { readonly state: FileState | null };

const CODES = new Map(STATES.map((state, index) => [state, index + 1]));
const HIDDEN = 0;
const UNJUDGED = 255;
const NOT_KNOWN = { state: null, size: null, lag: null, read: false };

/** What in_tail no longer watches is neither read nor left: how far it was read, its line does not say. */
function addTo(totals: Totals, { state, size, lag, read }: Judged): void {
  if (state !== 'unwatched') totals.size += size ?? 0;
  totals.lag += lag ?? 0;
  if (lag === null) totals.unknown += 1;
  if (lag !== 0) totals.left += 1;
  if (read) return;
  totals.unread += 1;
  totals.toRead += lag ?? 0;
}

function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}
