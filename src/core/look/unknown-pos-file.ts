import type { Limits } from '../progress/limits.ts';
import type { Millis } from '../text/units.ts';
import type { Memory, UnknownPosFile } from './observation.ts';
import type { PosFileReading, Snapshot } from './snapshot.ts';
import { hasNothingToFollow } from './undiscovered.ts';

export const NOT_THERE = 'is not there';

export function whyUnknown(
  reading: PosFileReading,
  snapshot: Snapshot,
  memory: Memory,
  limits: Limits,
): readonly UnknownPosFile[] {
  const { path } = reading;
  switch (reading.kind) {
    case 'read': {
      const lost = reading.entries.length < (memory.posFiles.get(path)?.count ?? 0);
      return lost ? [{ path, why: 'has lost entries since the last look', empty: false }] : [];
    }
    case 'missing':
      return [{ path, why: NOT_THERE, empty: false }];
    case 'unreadable':
      return [{ path, why: `cannot be read: ${reading.error}`, empty: false }];
    case 'foreign':
      return [{ path, why: reading.why, empty: false }];
    case 'empty':
      return hasNothingToFollow(path, snapshot.followed) || isTrulyEmpty(path, snapshot.at, memory, limits)
        ? []
        : [{ path, why: 'is empty for now', empty: true }];
  }
}

/**
 * A pos file is empty for about 80 µs when Fluentd compacts it (position_file.rb, truncate then write). A new one stays empty until
 * in_tail finds a log file, which takes at most one refresh_interval.
 */
function isTrulyEmpty(path: string, at: Millis, memory: Memory, limits: Limits): boolean {
  const { count = 0, emptySince = at } = memory.posFiles.get(path) ?? {};
  return at - emptySince >= (count > 0 ? limits.settle : limits.tail.refreshInterval + limits.settle);
}
