import type { FileLook, PosFileReading, Snapshot } from '../look/snapshot.ts';
import { BLOCKED_AFTER } from '../observe/judge-entry.ts';
import type { KnownEntry, Limits, Observation } from '../observe/observation.ts';
import { observeNothing } from '../observe/observe.ts';
import type { KeyedEntry } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';

/** in_tail looks each second: what is left for longer while the pos file has long stood still is held up. */
export const CONFIRM_AFTER: Millis = 2_000;

/** What stands in for the look before the first: the ages of files. */
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

/** `still`: how long the pos file has stood still. */
function knownByAges(
  { path, inode, position }: KeyedEntry,
  { atPath }: FileLook,
  at: Millis,
  still: Millis,
): KnownEntry {
  const logStill = atPath?.writtenAgo ?? 0;
  const isRead = position !== null && atPath?.size === position;
  // What is read was read right after it was written, at the latest when the pos file was.
  const movedAt = at - (isRead ? Math.max(still, logStill) : still);
  const leftSince = Number.isFinite(still) ? at - Math.min(still, logStill) : at;
  return { path, inode, position, size: null, movedAt, leftSince, isAtPath: false };
}

/** A log that is being written has bytes left. One look cannot tell whether they have just come, or in_tail stands still. */
export function needsSecondLook({ files }: Observation, posFiles: readonly PosFileReading[]): boolean {
  // What comes through a pipe has no age, and can be read only once.
  const still = posFiles.filter(
    (one) => one.kind === 'read' && one.writtenAgo >= BLOCKED_AFTER && Number.isFinite(one.writtenAgo),
  );
  const paths = new Set(still.map(({ path }) => path));
  return paths.size > 0 && files.some(({ state, posFile }) => state === 'behind' && paths.has(posFile));
}

/** For a look CONFIRM_AFTER later: bytes that are still left then have waited since the position moved. */
export function presumeStuck(seen: Observation): Observation {
  const entries = [...seen.memory.entries].map(([key, known]) => {
    const leftSince = known.leftSince === undefined ? undefined : known.movedAt;
    return [key, { ...known, leftSince }] as const;
  });
  return { ...seen, memory: { ...seen.memory, entries: new Map(entries) } };
}
