import type { Millis } from '../text/units.ts';

/** Two changes may get the same time: within a tick of 10 ms on Linux, within 2 s on the coarsest file system (FAT). */
export const COARSEST_TICK: Millis = 2_500;

/** When a file was made, as in `FileStat`. */
export interface Born {
  readonly born?: number | undefined;
}

/** Two files with the same inode were made at different times; undefined: nobody tells when. Times are rounded to whole milliseconds. */
export function isAnotherBirth(before: Born, now: Born): boolean | undefined {
  if (before.born === undefined || now.born === undefined) return undefined;
  return Math.abs(now.born - before.born) > 1;
}
