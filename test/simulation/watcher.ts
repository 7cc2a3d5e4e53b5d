import type { LogFile } from './log-files.ts';
import type { PosLine } from './pos-file.ts';

/** A file that in_tail follows, by its open descriptor. */
export interface Watcher {
  readonly path: string;
  readonly file: LogFile;
  readonly line: PosLine;
  /** After a rename only memory has the position (in_tail.rb:1035). */
  inMemory: boolean;
  /** Whole lines that were read. */
  read: number;
  /** Bytes that were read of a line without its newline. */
  unfinished: number;
  /** The size at the last stat. */
  size: number;
  isBusy: boolean;
  /** Lines read in the current second. */
  readonly second: { at: number; lines: number };
}

export function watcherOf(path: string, file: LogFile, line: PosLine, read: number): Watcher {
  const second = { at: 0, lines: 0 };
  return { path, file, line, inMemory: false, read, unfinished: 0, size: 0, isBusy: false, second };
}
