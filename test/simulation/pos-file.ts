import type { Millis } from '../../src/core/text/units.ts';
import { posText } from '../support/builders.ts';
import type { Clock } from './clock.ts';

/** One line of the pos file. */
export interface PosLine {
  readonly path: string;
  /** null: unwatched. */
  position: number | null;
  inode: string;
}

const NOTHING = new Uint8Array();
const ENCODER = new TextEncoder();

/** The pos file: written in place, and rewritten by truncation when it is compacted (position_file.rb:95-149). */
export class PosFile {
  exists = false;
  writtenAt: Millis = 0;
  readonly #clock: Clock;
  #lines: PosLine[] = [];
  #emptyUntil: Millis = 0;
  #bytes: Uint8Array | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For a millisecond nothing stands in it: longer than the 80 µs that were measured, so that a look can meet it. */
  compact(keep: (line: PosLine) => boolean): void {
    this.exists = true;
    this.#lines = this.#lines.filter((line) => line.position !== null && keep(line));
    this.#emptyUntil = this.#clock.now + 1;
    this.#written();
  }

  add(path: string): PosLine {
    const line = { path, position: 0, inode: '0' };
    this.#lines.push(line);
    this.#written();
    return line;
  }

  find(path: string): PosLine | undefined {
    return this.#lines.findLast((line) => line.path === path && line.position !== null);
  }

  update(line: PosLine, position: number | null, inode = line.inode): void {
    line.position = position;
    line.inode = inode;
    this.#written();
  }

  get bytes(): Uint8Array {
    if (this.#clock.now < this.#emptyUntil) return NOTHING;
    this.#bytes ??= ENCODER.encode(posText(this.#lines));
    return this.#bytes;
  }

  #written(): void {
    this.#bytes = undefined;
    this.writtenAt = this.#clock.wall;
  }
}
