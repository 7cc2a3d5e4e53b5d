import type { Millis } from '../text/units.ts';

/** in_tail looks at every file that it follows this often, events or not (in_tail.rb:490). */
export const IN_TAIL_TICK: Millis = 1_000;

/** Measured: a limited in_tail reads 65 to 80 % of what its limit allows. */
const SLOWER_THAN_ITS_LIMIT = 2;

/** How long the rest of a file may take below a <group>, which limits each file in its own way. */
const REST_IN_A_GROUP: Millis = 60_000;

/** How long in_tail may take for so many bytes; `readLimit`: bytes a second, 0: below a <group>. */
export function timeToRead(bytes: number, readLimit: number): Millis {
  return readLimit > 0 ? (bytes / readLimit) * 1_000 * SLOWER_THAN_ITS_LIMIT : REST_IN_A_GROUP;
}
