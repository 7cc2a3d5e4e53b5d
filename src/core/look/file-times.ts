import type { Millis } from '../text/units.ts';

/** Two changes may get the same time: within a tick of 10 ms on Linux, within 2 s on the coarsest file system (FAT). */
export const COARSEST_TICK: Millis = 2_500;
