import type { Millis } from '../../src/core/text/units.ts';
import type { LogFile } from './log-files.ts';
import type { PosLine } from './pos-file.ts';

/** A file that in_tail follows, by its open descriptor. */
export interface Watcher {
  readonly path: string;
  file: LogFile;
  /** Its line in the pos file. */
  line: PosLine;
  /** After a rename only memory has the position (in_tail.rb:1035). */
  inMemory: boolean;
  /** Whole lines that were read. */
  read: number;
  /** The size at the last stat. */
  size: number;
  isBusy: boolean;
  /** When it last read something. */
  movedAt: Millis;
  /** Lines read in the current second. */
  second: { at: Millis; lines: number };
}

/** Of a file that was just opened. */
export function FRESH() {
  return { size: 0, isBusy: false, movedAt: 0, second: { at: 0, lines: 0 } };
}
