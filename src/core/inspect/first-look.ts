import type { Known } from '../look/observation.ts';
import type { FileLook } from '../look/snapshot.ts';
import type { KeyedEntry } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';

/** The ages of the files replace the history of a first look. `still`: how long ago the pos file was written. */
export function knownByAges(at: Millis) {
  return ({ position }: KeyedEntry, { atPath }: FileLook, still: Millis): Known => {
    const logStill = atPath?.writtenAgo ?? 0;
    const isRead = position !== null && atPath?.size === position;
    // in_tail read a fully read file right after its last write, and no later than it wrote the pos file.
    const movedAt = at - (isRead ? Math.max(still, logStill) : still);
    const leftSince = Number.isFinite(still) ? at - Math.min(still, logStill) : at;
    return { position, state: 'missing', size: null, movedAt, leftSince };
  };
}
