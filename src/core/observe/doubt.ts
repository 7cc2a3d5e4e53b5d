import type { PosFileReading, Snapshot } from '../look/snapshot.ts';
import { isBare } from '../look/undiscovered.ts';
import type { Limits, Memory, UnknownPosFile } from './observation.ts';

export interface Doubts {
  readonly snapshot: Snapshot;
  readonly memory: Memory;
  readonly limits: Limits;
}

/** Why a pos file cannot be believed for now; nothing where it can. */
export function doubtOf(reading: PosFileReading, doubts: Doubts): readonly UnknownPosFile[] {
  const { path } = reading;
  switch (reading.kind) {
    case 'read': {
      const lost = reading.entries.length < (doubts.memory.counts.get(path) ?? 0);
      return lost ? [{ path, why: 'has lost entries since the last look', empty: false }] : [];
    }
    case 'missing':
      return [{ path, why: 'is not there yet', empty: false }];
    case 'unreadable':
      return [{ path, why: `cannot be read: ${reading.error}`, empty: false }];
    case 'empty':
      return hasNothingToFollow(path, doubts) || isTrulyEmpty(path, doubts)
        ? []
        : [{ path, why: 'is empty for now', empty: true }];
  }
}

/** No file of any source of this pos file holds a byte: there is nothing that it could have an entry for. */
function hasNothingToFollow(path: string, { snapshot }: Doubts): boolean {
  const sources = snapshot.followed.filter(({ posFile }) => posFile === path);
  return sources.length > 0 && sources.every(isBare);
}

/**
 * Fluentd empties a pos file for some 80 µs when it compacts it (position_file.rb, truncate then write), and leaves a new one
 * empty until it finds a log file, at the latest after one refresh_interval.
 */
function isTrulyEmpty(path: string, { snapshot, memory, limits }: Doubts): boolean {
  const span = snapshot.at - (memory.emptySince.get(path) ?? snapshot.at);
  return span >= (memory.filled.has(path) ? limits.settle : limits.tail.refreshInterval + limits.settle);
}
