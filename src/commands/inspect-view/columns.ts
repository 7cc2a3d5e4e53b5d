import type { FileState } from '../../core/look/file-state.ts';
import { shortenEnd, shortenMiddle, widthOf } from '../../core/text/text-width.ts';
import type { Style } from './style.ts';

/** One column of a table; its last column is the file's name, which takes what is left. */
export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
  /** Columns of little importance give way first where it is narrow: 1 before 2; undefined: never. */
  readonly givesWay?: number;
}

export interface Cells {
  readonly cells: readonly string[];
  /** Printable. */
  readonly name: string;
  readonly state: FileState | null;
  /** So much of the name is to be seen, and it is cut at its end; undefined: in its middle. */
  readonly keep?: number;
}

const GAP = '  ';
const NAME = 'FILE';
/** A name is not cut below this width as long as another column can go. */
const LEAST_NAME = 24;

/** Lays out lines: widths from the titles and the cells that are measured, never wider than `width`. */
export class Layout {
  readonly #columns: readonly Column[];
  readonly #widths: readonly number[];
  readonly #shown: readonly number[];
  readonly #width: number | undefined;

  constructor(columns: readonly Column[], measured: readonly Cells[], width: number | undefined) {
    this.#columns = columns;
    this.#width = width;
    this.#widths = columns.map(({ title }, index) =>
      measured.reduce((widest, { cells }) => Math.max(widest, (cells[index] ?? '').length), title.length),
    );
    const longest = measured.reduce((widest, { name }) => Math.max(widest, widthOf(name)), NAME.length);
    const kept = measured.reduce((most, { keep = 0 }) => Math.max(most, keep + 1), LEAST_NAME);
    this.#shown = this.#choose(Math.min(longest, kept));
  }

  title(): string {
    return this.#line({ cells: this.#columns.map(({ title }) => title), name: NAME, state: null });
  }

  row(row: Cells, style: Style): string {
    return this.#line(row, style);
  }

  #choose(least: number): readonly number[] {
    const order = this.#columns
      .map(({ givesWay }, index) => ({ givesWay, index }))
      .filter(({ givesWay }) => givesWay !== undefined)
      .sort((a, b) => (a.givesWay ?? 0) - (b.givesWay ?? 0))
      .map(({ index }) => index);
    let shown = this.#columns.map((_, index) => index);
    const taken = () => shown.reduce((sum, index) => sum + (this.#widths[index] ?? 0) + GAP.length, 0);
    for (const index of order) {
      if (this.#width === undefined || taken() + least <= this.#width) break;
      shown = shown.filter((other) => other !== index);
    }
    return shown;
  }

  #line({ cells, name, state, keep }: Cells, style?: Style): string {
    let used = 0;
    let line = '';
    for (const index of this.#shown) {
      const text = cells[index] ?? '';
      const width = this.#widths[index] ?? 0;
      const padded = this.#columns[index]?.align === 'right' ? text.padStart(width) : text.padEnd(width);
      used += Math.max(width, text.length) + GAP.length;
      line += (index === 0 && state !== null && style ? style.state(state, padded) : padded) + GAP;
    }
    const shorten = keep === undefined ? shortenMiddle : shortenEnd;
    return line + (this.#width === undefined ? name : shorten(name, Math.max(1, this.#width - used)));
  }
}
