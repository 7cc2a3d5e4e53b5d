import type { Limits, Observation } from '../observe/observation.ts';
import { isAnswered, isAnyAlive } from '../witness/testimony.ts';
import { ofLooks } from './looks.ts';
import { joined, type Left, type Progress } from './progress.ts';

/** What is known now: by the witnesses where all of them answer, else by the looks from outside, or by both. */
export function progressOf(seen: Observation, limits: Limits): Progress {
  const { witness, fluentd } = seen;
  if (witness === undefined) return ofLooks(seen, limits);
  const { testimony, progress } = witness;
  if (!isAnswered(testimony)) return joined(progress, ofLooks(seen, limits));
  if (isAnyAlive(testimony)) return progress;
  const looks = ofLooks(seen, limits);
  // A Fluentd that is there without its witness is another one than that which said its last word.
  return fluentd.kind === 'absent' ? withLater(progress, looks.left) : joined(progress, looks);
}

/** What came to the files after the last word. */
function withLater(progress: Progress, seen: readonly Left[]): Progress {
  const told = new Set(progress.left.map(pathOf));
  const later = seen.filter((one) => pathOf(one) !== undefined && !told.has(pathOf(one)));
  return { ...progress, left: [...progress.left, ...later] };
}

function pathOf(one: Left): string | undefined {
  return 'path' in one ? one.path : undefined;
}
