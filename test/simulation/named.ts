import type { Outcome } from '../../src/core/drain/outcome.ts';
import type { Doubt, Left } from '../../src/core/progress/progress.ts';
import type { Line } from './lines.ts';
import type { Worker } from './worker.ts';

/** Whether an outcome tells of a line that has not arrived: of its file, of the output that had it, or of a worker that may have. */
export function isNamed(line: Line, { end, left, doubts }: Outcome, workers: readonly Worker[]): boolean {
  // Nobody reads what comes after that, nor anything if no worker got so far.
  const hasRead = ({ endedAt, followsSince }: Worker) =>
    followsSince !== undefined && endedAt > line.writtenAt;
  if (end === 'ended-by-itself' && !workers.some(hasRead)) return true;
  // If there are very many, the outcome names only the worst.
  if (left.count > left.worst.length || doubts.count > doubts.worst.length) return true;
  return (
    left.worst.some((one) => isLeft(line, one)) || doubts.worst.some((one) => isDoubted(line, one, workers))
  );
}

function isLeft({ fate, file }: Line, one: Left): boolean {
  if (one.kind === 'held') return fate === 'buffered' || fate === 'lost in memory';
  if (one.kind === 'given-up') return fate === 'set aside';
  return fate === 'written' && (one.kind === 'unstarted' || ('path' in one && file.paths.has(one.path)));
}

/** Of a worker that died, a doubt is about all until the next one follows its files. */
function isDoubted(
  { fate, file, writtenAt }: Line,
  { kind, about }: Doubt,
  workers: readonly Worker[],
): boolean {
  if (about === undefined) return true;
  if (kind === 'undelivered') return fate === 'set aside' || fate === 'thrown away';
  const worker = workers.find(({ pid }) => about.endsWith(` (pid ${pid})`));
  if (worker === undefined) return fate === 'written' && file.paths.has(about);
  const next = workers.find(
    ({ followsSince }) => followsSince !== undefined && followsSince >= worker.endedAt,
  );
  return writtenAt < (next?.followsSince ?? Number.POSITIVE_INFINITY);
}
