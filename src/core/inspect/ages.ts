import type { FileLook, PosFileReading, Snapshot } from '../look/snapshot.ts';
import { BLOCKED_AFTER } from '../observe/judge-entry.ts';
import type { KnownEntry, Limits, Observation } from '../observe/observation.ts';
import { observeNothing } from '../observe/observe.ts';
import type { KeyedEntry } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';

/** in_tail looks each second: what is left for longer while the pos file has long stood still is held up. */
export const CONFIRM_AFTER: Millis = 2_000;

/**
 * The first look has no history; the ages of files replace it. `before`: what a look CONFIRM_AFTER ago found. Bytes that were left
 * then, and still are, have waited as long as the pos file has stood still.
 */
export function observeAges(snapshot: Snapshot, limits: Limits, before?: Observation): Observation {
  const { at, fluentd, requests, posFiles, looks } = snapshot;
  const nothing = observeNothing({ at, fluentd, requests }, limits);
  const wereLeft = new Map(
    before?.files.map(({ key, position, read }) => [key, read ? undefined : position]),
  );
  const entries = posFiles.flatMap((reading) =>
    reading.kind !== 'read'
      ? []
      : reading.entries.map((entry): [string, KnownEntry] => {
          const wasLeft = wereLeft.get(entry.key) === entry.position;
          return [entry.key, knownByAges(entry, looks.get(entry.key) ?? {}, { at, reading, wasLeft })];
        }),
  );
  return { ...nothing, memory: { ...nothing.memory, entries: new Map(entries) } };
}

interface Ages {
  readonly at: Millis;
  readonly reading: Extract<PosFileReading, { kind: 'read' }>;
  readonly wasLeft: boolean;
}

function knownByAges({ path, inode, position }: KeyedEntry, { atPath }: FileLook, ages: Ages): KnownEntry {
  const { at, reading, wasLeft } = ages;
  const { writtenAgo: still } = reading;
  const logStill = atPath?.writtenAgo ?? 0;
  const isRead = position !== null && atPath?.size === position;
  // What is read was read right after it was written, at the latest when the pos file was.
  const movedAt = at - (isRead ? Math.max(still, logStill) : still);
  const leftSince = Number.isFinite(still) ? at - (wasLeft ? still : Math.min(still, logStill)) : at;
  return { path, inode, position, size: null, movedAt, leftSince, isHere: false };
}

/** A log that is being written has bytes left. One look cannot tell whether they have just come, or in_tail stands still. */
export function isInDoubt({ files }: Observation, posFiles: readonly PosFileReading[]): boolean {
  const still = posFiles.filter((one) => one.kind === 'read' && one.writtenAgo >= BLOCKED_AFTER);
  const paths = new Set(still.map(({ path }) => path));
  return paths.size > 0 && files.some(({ state, posFile }) => state === 'behind' && paths.has(posFile));
}
