import type { Limits, Observation } from '../observe/observation.ts';
import { isAnswered } from '../witness/testimony.ts';
import { givenUpIn, ofLooks } from './looks.ts';
import { joined, type Progress } from './progress.ts';

/** What is known now: by the witnesses where all of them answer, else by the looks from outside, or by both. A chunk that was put aside lies there, whoever answers. */
export function progressOf(seen: Observation, limits: Limits): Progress {
  const { witness } = seen;
  if (witness === undefined) return ofLooks(seen, limits);
  const { testimony, progress } = witness;
  if (!isAnswered(testimony)) return joined(progress, ofLooks(seen, limits));
  return { ...progress, left: [...progress.left, ...givenUpIn(seen)] };
}
