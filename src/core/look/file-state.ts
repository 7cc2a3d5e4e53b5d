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

export interface LagContext {
  /** The last size that posidle saw; null if none. */
  readonly lastSize: number | null;
  /** Bytes are left, and the position has not moved for BLOCKED_AFTER. */
  readonly stuck: boolean;
  /** The new file at the path has its own entry (follow_inodes). */
  readonly succeeded: boolean;
}

export function lagOf(entry: PositionEntry, look: FileLook, context: LagContext): Lag {
  const { position } = entry;
  const { atPath } = look;
  if (position === null) return { state: 'unwatched', size: atPath?.size ?? null, lag: 0, read: true };
  if (look.error !== undefined)
    return { state: 'unreadable', size: context.lastSize, lag: null, read: false };
  if (atPath === undefined) return lagOfMissing(position, context);
  // After "Skip update_watcher" Fluentd keeps an entry with inode 0 next to the file's own entry (in_tail.rb, update_watcher).
  if (isFileOf(entry, atPath) && !context.succeeded) return lagInside(position, atPath.size, look, context);
  return lagOfRotated(position, atPath.size, context);
}

/** A new entry has inode 0 until in_tail opens the file (position_file.rb:47). */
export function isFileOf(entry: PositionEntry, stat: FileStat): boolean {
  return entry.inode === stat.inode || entry.inode === '0';
}

function lagInside(position: number, size: number, look: FileLook, context: LagContext): Lag {
  if (size < position) return { state: 'truncated', size, lag: size, read: size === 0 };
  const lag = size - position;
  if (lag === 0) return { state: 'caught-up', size, lag, read: true };
  if (look.newlineLeft === false) return { state: 'partial-line', size, lag, read: true };
  return { state: context.stuck ? 'blocked' : 'behind', size, lag, read: false };
}

/** posidle does not wait for a file without a path: only in_tail's memory knows how far it reads (in_tail.rb:1035). */
function lagOfMissing(position: number, { lastSize }: LagContext): Lag {
  return { state: 'missing', size: lastSize, lag: restOf(position, lastSize), read: true };
}

/** The same for its old file. Until in_tail opens the new one, all of that is left. */
function lagOfRotated(position: number, sizeAtPath: number, { succeeded, lastSize }: LagContext): Lag {
  const own = restOf(position, lastSize);
  if (succeeded) return { state: 'rotated', size: lastSize, lag: own, read: true };
  return { state: 'rotated', size: lastSize, lag: (own ?? 0) + sizeAtPath, read: sizeAtPath === 0 };
}

function restOf(position: number, lastSize: number | null): number | null {
  return lastSize === null ? null : Math.max(0, lastSize - position);
}
