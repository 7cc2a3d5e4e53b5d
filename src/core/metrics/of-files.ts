import { aboutOf } from '../inspect/inspection.ts';
import { STATES } from '../inspect/rows.ts';
import type { FileState } from '../look/file-state.ts';
import { heldIn, type Progress } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import type { Told } from './exposition.ts';

/** What `export` and `watch` both know of the log files. */
export interface FilesSeen {
  /** Bytes left where that is known; in so many files it is not. */
  readonly lag: number;
  readonly unknown: number;
  readonly byState: ReadonlyMap<FileState | null, number>;
  readonly undiscovered: readonly { readonly size: number }[];
  readonly unreadablePosFiles: number;
  /** Of the files with something left, the longest time since one moved. */
  readonly stoodStill: Millis;
  readonly progress: Pick<Progress, 'left' | 'doubts'>;
  /** Those that get series of their own. */
  readonly single: readonly SingleFile[];
}

export interface SingleFile {
  readonly posFile: string;
  readonly path: string;
  readonly inode: string;
  readonly position: number | null;
  readonly size: number | null;
  readonly lag: number | null;
  /** undefined: nobody measures it. */
  readonly late?: Millis | undefined;
}

export function metricsOfFiles(seen: FilesSeen): Told {
  const { byState, undiscovered, progress } = seen;
  const held = heldIn(progress.left);
  const unread = progress.doubts.filter(({ kind }) => kind === 'closed-unread');
  return {
    posidle_lag_bytes: seen.lag,
    posidle_unknown_lag_files: seen.unknown,
    posidle_oldest_position_age_seconds: seconds(seen.stoodStill),
    posidle_files: STATES.map((state) => [{ state }, byState.get(state) ?? 0]),
    posidle_undiscovered_bytes: sum(undiscovered.map(({ size }) => size)),
    posidle_closed_unread_bytes: sum(unread.map(({ bytes = 0 }) => bytes)),
    posidle_closed_unread_files: unread.length,
    posidle_doubts: progress.doubts.length,
    posidle_unreadable_pos_files: seen.unreadablePosFiles,
    posidle_buffer_bytes: sum(held.map(({ bytes }) => bytes)),
    posidle_buffer_chunks: sum(held.map(({ chunks }) => chunks)),
    ...metricsOfEach(seen.single),
  };
}

function metricsOfEach(files: readonly SingleFile[]): Told {
  const of = (value: (file: SingleFile) => number | null) =>
    files.map((file) => [labelsOf(file), value(file)] as const);
  return {
    posidle_file_lag_bytes: of(({ lag }) => lag),
    posidle_file_lag_seconds: of(({ late }) => (late === undefined ? null : seconds(late))),
    posidle_file_position_bytes: of(({ position }) => position),
    posidle_file_size_bytes: of(({ size }) => size),
  };
}

function labelsOf({ posFile, path, inode }: SingleFile) {
  return { ...aboutOf(path).kubernetes, path, inode, pos_file: posFile };
}

export function seconds(span: Millis): number {
  return Math.round(span) / 1_000;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

export function countBy<T, Key>(items: Iterable<T>, keyOf: (item: T) => Key): Map<Key, number> {
  const counts = new Map<Key, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
