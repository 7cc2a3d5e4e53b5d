import type { Millis } from '../text/units.ts';

/** in_tail looks at every followed file this often, even without events (in_tail.rb:490). */
export const IN_TAIL_TICK: Millis = 1_000;

/** Measured: in_tail reads at 65 to 80 % of its read limit. */
const SLOWER_THAN_ITS_LIMIT = 2;

/** The time that posidle allows for the rest of a file in a <group>, whose limit counts lines. */
const REST_IN_A_GROUP: Millis = 60_000;

/** How long in_tail may need for these bytes. `readLimit`: bytes a second; 0 in a <group>. */
export function timeToRead(bytes: number, readLimit: number): Millis {
  return readLimit > 0 ? (bytes / readLimit) * 1_000 * SLOWER_THAN_ITS_LIMIT : REST_IN_A_GROUP;
}
