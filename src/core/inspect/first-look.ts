import { BLOCKED_AFTER } from '../look/judge-entry.ts';
import type { KnownEntry, Observation } from '../look/observation.ts';
import { observe, observeNothing, observeOnce } from '../look/observe.ts';
import type { FileLook, PosFileReading, Snapshot } from '../look/snapshot.ts';
import type { KeyedEntry } from '../pos-file/pos-file.ts';
import type { Limits } from '../progress/limits.ts';
import type { Millis } from '../text/units.ts';

/** in_tail looks once a second. If bytes stay unread for longer, and the pos file is old, in_tail is blocked. */
export const CONFIRM_AFTER: Millis = 2_000;

/** A single look. The ages of the files replace its history. */
export function observeSingle(snapshot: Snapshot, limits: Limits): Observation {
  return observeOnce(snapshot, limits, (entry, look, still) => knownByAges(entry, look, snapshot.at, still));
}

/** The same for the first of several looks. */
export function assumeFromAges(
  { at, fluentd, requests, posFiles, looks }: Snapshot,
  limits: Limits,
): Observation {
  const nothing = observeNothing({ at, fluentd, requests }, limits);
  const entries = posFiles.flatMap((reading) =>
    reading.kind !== 'read'
      ? []
      : reading.entries.map((entry) => {
          const known = knownByAges(entry, looks.get(entry.key) ?? {}, at, reading.writtenAgo);
          return [entry.key, known] as const;
        }),
  );
  return { ...nothing, memory: { ...nothing.memory, entries: new Map(entries) } };
}

/** `still`: how long ago the pos file was written. */
function knownByAges(
  { path, inode, position }: KeyedEntry,
  { atPath }: FileLook,
  at: Millis,
  still: Millis,
): KnownEntry {
  const logStill = atPath?.writtenAgo ?? 0;
  const isRead = position !== null && atPath?.size === position;
  // in_tail read a fully read file right after its last write, and no later than it wrote the pos file.
  const movedAt = at - (isRead ? Math.max(still, logStill) : still);
  const leftSince = Number.isFinite(still) ? at - Math.min(still, logStill) : at;
  return { path, inode, position, size: null, movedAt, leftSince, isAtPath: false };
}

/** A growing log always has unread bytes. One look cannot tell whether they are new or in_tail is blocked. */
export function needsSecondLook({ files }: Observation, posFiles: readonly PosFileReading[]): boolean {
  // A pipe has no age, and can be read only once.
  const still = posFiles.filter(
    (one) => one.kind === 'read' && one.writtenAgo >= BLOCKED_AFTER && Number.isFinite(one.writtenAgo),
  );
  const paths = new Set(still.map(({ path }) => path));
  return paths.size > 0 && files.some(({ state, posFile }) => state === 'behind' && paths.has(posFile));
}

/**
 * The first look at `snapshot`, on the assumption that unread bytes have waited since the position last moved. The second look, after
 * CONFIRM_AFTER, confirms or refutes it.
 */
export function presumeStuck(snapshot: Snapshot, limits: Limits): Observation {
  const seen = observe(assumeFromAges(snapshot, limits), snapshot, limits);
  const entries = [...seen.memory.entries].map(([key, known]) => {
    const leftSince = known.leftSince === undefined ? undefined : known.movedAt;
    return [key, { ...known, leftSince }] as const;
  });
  return { ...seen, memory: { ...seen.memory, entries: new Map(entries) } };
}
