import type { PositionEntry } from '../pos-file/pos-file.ts';
import type { FileLook, FileStat } from './snapshot.ts';

/** The worst last. */
export const STATES = [
  'unwatched',
  'caught-up',
  'partial-line',
  'behind',
  'undiscovered',
  'rotated',
  'unreadable',
  'missing',
  'truncated',
  'blocked',
] as const;
export type FileState = (typeof STATES)[number];

export interface Lag {
  readonly state: FileState;
  /** Bytes in the file, of a lost one when posidle last saw it; null where unknown. */
  readonly size: number | null;
  /** Bytes left to read; null where unknown. */
  readonly lag: number | null;
  /** Fluentd will emit nothing more of this file. */
  readonly read: boolean;
}

/** `lastSize`: that posidle saw; null if none. `succeeded`: the new file at the path has its own entry (follow_inodes). */
export function lagOf(
  entry: PositionEntry,
  { atPath, error, newlineLeft }: FileLook,
  lastSize: number | null,
  succeeded: boolean,
): Lag {
  const { position } = entry;
  if (position === null) return { state: 'unwatched', size: atPath?.size ?? null, lag: 0, read: true };
  if (error !== undefined) return { state: 'unreadable', size: lastSize, lag: null, read: false };
  const rest = lastSize === null ? null : Math.max(0, lastSize - position);
  // posidle does not wait for a file without a path: only in_tail's memory knows how far it reads (in_tail.rb:1035).
  if (atPath === undefined) return { state: 'missing', size: lastSize, lag: rest, read: true };
  if (succeeded) return { state: 'rotated', size: lastSize, lag: rest, read: true };
  const { size } = atPath;
  // Until in_tail opens the new file, all of that is left.
  if (!isFileOf(entry, atPath))
    return { state: 'rotated', size: lastSize, lag: (rest ?? 0) + size, read: size === 0 };
  if (size < position) return { state: 'truncated', size, lag: size, read: size === 0 };
  const lag = size - position;
  if (lag === 0) return { state: 'caught-up', size, lag, read: true };
  if (newlineLeft === false) return { state: 'partial-line', size, lag, read: true };
  return { state: 'behind', size, lag, read: false };
}

/** A new entry has inode 0 until in_tail opens the file (position_file.rb:47). */
export function isFileOf(entry: PositionEntry, stat: FileStat): boolean {
  return entry.inode === stat.inode || entry.inode === '0';
}
