import { type BuffersReading, heldIn, unseenIn } from '../fluentd/buffer-contents.ts';
import { aboutOf } from '../inspect/inspection.ts';
import { STATES } from '../inspect/rows.ts';
import type { FileState } from '../look/file-state.ts';
import type { Abandoned } from '../observe/observation.ts';
import type { Millis } from '../text/units.ts';
import type { Told } from './exposition.ts';

/** What `export` and `watch` both know of the log files. */
export interface FilesSeen {
  /** Bytes left where that is known; in so many files it is not. */
  readonly lag: number;
  readonly unknown: number;
  readonly byState: ReadonlyMap<FileState | null, number>;
  readonly undiscovered: readonly { readonly size: number }[];
  readonly abandoned: readonly Abandoned[];
  readonly unreadablePosFiles: number;
  /** Of the files with something left, the longest time since one moved. */
  readonly stoodStill: Millis;
  readonly buffers: BuffersReading | undefined;
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
  const { byState, undiscovered, abandoned, buffers } = seen;
  const states: readonly FileState[] = [...STATES, 'unreadable'];
  const held = buffers && heldIn(buffers);
  return {
    posidle_lag_bytes: seen.lag,
    posidle_unknown_lag_files: seen.unknown,
    posidle_oldest_position_age_seconds: seconds(seen.stoodStill),
    posidle_files: states.map((state) => [{ state }, byState.get(state) ?? 0]),
    posidle_undiscovered_bytes: sum(undiscovered.map(({ size }) => size)),
    posidle_abandoned_bytes: sum(abandoned.map(({ bytes }) => bytes)),
    posidle_abandoned_files: sum(abandoned.map(({ files = 1 }) => files)),
    posidle_unreadable_pos_files: seen.unreadablePosFiles,
    posidle_buffer_bytes: held?.bytes ?? null,
    posidle_buffer_chunks: held?.chunks ?? null,
    posidle_unseen_buffers: buffers ? unseenIn(buffers).length : null,
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
