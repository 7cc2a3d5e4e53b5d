import type { Limits } from '../progress/limits.ts';
import type { Doubt, DoubtKind, Left, Progress } from '../progress/progress.ts';
import { isAnswered, isAnyAlive, isComplete, lastAlive, progressFromWitnesses } from '../witness/reports.ts';
import { type Facts, progressFromFiles } from './progress-from-files.ts';

/**
 * The witnesses' progress if each one answers, or if all workers have left their last report and no other Fluentd runs. Otherwise the
 * progress that the files show, with the doubt about each worker, and what ended workers have left. Nothing is concluded from both.
 */
export function progressIn(seen: Facts, before: Progress | undefined, limits: Limits): Progress {
  const { reports, fluentd, hasFiles } = seen;
  if (reports === undefined) return progressFromFiles(seen, limits);
  const progress = progressFromWitnesses(reports);
  const isAlive = isAnyAlive(reports);
  if (!isAlive && isAnswered(reports) && fluentd.kind === 'absent')
    return dated({ ...progress, at: lastAlive(reports) }, seen, before);
  if ((isAlive && isComplete(reports)) || !hasFiles) return dated(progress, seen, before);
  const files = progressFromFiles(seen, limits);
  const left = isAlive ? files.left : [...files.left, ...onlyIn(progress.left, files.left)];
  return { ...files, left, doubts: distinct(progress.doubts, files.doubts) };
}

/** Adds when a line may last have reached a buffer: when the version has changed, or before there was one, when a pos file did. */
function dated(progress: Progress, { hasFiles, movedAt }: Facts, before: Progress | undefined): Progress {
  const { at, version } = progress;
  if (before?.source !== 'witness') return { ...progress, movedAt: hasFiles ? movedAt : at };
  return { ...progress, movedAt: before.version === version ? before.movedAt : at };
}

const SAY_IT: readonly DoubtKind[] = ['no-answer', 'not-believed', 'worker-died'];

/** Drops `no-witness` if a worker's doubt already says that. */
function distinct(ofWorkers: readonly Doubt[], ofFiles: readonly Doubt[]): readonly Doubt[] {
  const isSaid = ofWorkers.some(({ kind }) => SAY_IT.includes(kind));
  return [...ofWorkers, ...ofFiles.filter(({ kind }) => !(isSaid && kind === 'no-witness'))];
}

/** What the files show, too, counts once. */
function onlyIn(ofWorkers: readonly Left[], ofFiles: readonly Left[]): readonly Left[] {
  const shown = new Set(ofFiles.flatMap((one) => ('path' in one ? [one.path] : [])));
  return ofWorkers.filter((one) => !('path' in one && shown.has(one.path)));
}
