import { lagOf } from '../look/lag.ts';
import { type FileLook, lookKey, type PosFileReading, type Snapshot } from '../look/snapshot.ts';
import { undiscoveredIn, unlistedIn } from '../look/undiscovered.ts';
import { entryKey, latestEntries, type PositionEntry } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import { doubtOf } from './doubt.ts';
import { hasRotation, NO_MEMORY, remember } from './memory.ts';
import type { EntryMemory, Limits, Observation, ObservedFile } from './observation.ts';

/** A position that stands still for this long with bytes left is blocked. */
export const BLOCKED_AFTER: Millis = 10_000;

/** What `snapshot` means after `previous`; pure. */
export function observe(previous: Observation | undefined, snapshot: Snapshot, limits: Limits): Observation {
  const memory = previous?.memory ?? NO_MEMORY;
  const unknown = snapshot.posFiles.flatMap((reading) => doubtOf(reading, { snapshot, memory, limits }));
  const files = snapshot.posFiles.flatMap((reading) =>
    observeEntries(reading, snapshot, { previous, limits }),
  );
  const movedAt = latest([previous?.movedAt, ...files.map((file) => file.movedAt)]);
  const undiscovered = snapshot.followed?.flatMap((followed) => undiscoveredIn(followed, snapshot.posFiles));
  const unlisted = unlistedIn(snapshot.followed ?? []);
  const isRead =
    unknown.length === 0 &&
    files.every((file) => file.read) &&
    !undiscovered?.some(({ size }) => size > 0) &&
    unlisted.length === 0;
  const movedNow = movedAt !== previous?.movedAt ? movedAt : undefined;
  const isAbsent = snapshot.fluentd.kind === 'absent';
  return {
    at: snapshot.at,
    files,
    unknown,
    started: snapshot.posFiles.length > 0 && snapshot.posFiles.every(({ kind }) => kind !== 'missing'),
    logged: previous?.logged === true || files.some(({ position }) => position !== 0),
    movedAt,
    readSince: isRead ? (movedNow ?? previous?.readSince ?? snapshot.at) : undefined,
    rotatedAt: hasRotation(files, memory) ? snapshot.at : previous?.rotatedAt,
    undiscovered,
    unlisted,
    buffers: snapshot.buffers,
    fluentd: snapshot.fluentd,
    goneSince: isAbsent && memory.fluentdSeen ? (previous?.goneSince ?? snapshot.at) : undefined,
    requests: snapshot.requests,
    memory: remember(memory, snapshot, { files, limits }),
  };
}

interface Before {
  readonly previous: Observation | undefined;
  readonly limits: Limits;
}

function observeEntries(
  reading: PosFileReading,
  snapshot: Snapshot,
  before: Before,
): readonly ObservedFile[] {
  if (reading.kind !== 'read') return [];
  const entries = livingEntries(latestEntries(reading.entries, undefined), reading.path, snapshot.looks);
  const inodesOf = groupInodes(entries);
  return entries.map((entry) => {
    const look = snapshot.looks.get(lookKey(reading.path, entry)) ?? {};
    const known = before.previous?.memory.entries.get(entryKey(entry));
    const movedAt = movementOf(entry, known, { snapshot, reading, before });
    const standsSince = Math.max(movedAt, known?.leftSince ?? snapshot.at);
    const lag = lagOf(entry, look, {
      lastSize: known?.size ?? null,
      stuck: snapshot.at - standsSince >= BLOCKED_AFTER,
      succeeded: inodesOf.get(entry.path)?.has(look.atPath?.inode ?? '') === true,
    });
    return { ...lag, path: entry.path, position: entry.position, inode: entry.inode, movedAt };
  });
}

/**
 * Without the older lines of a path whose file is nowhere any more. With follow_inodes several lines of a path are different
 * files, and both still exist; otherwise the last line is the one that Fluentd uses.
 */
export function livingEntries(
  entries: readonly PositionEntry[],
  posFile: string,
  looks: Snapshot['looks'],
): readonly PositionEntry[] {
  const lastOf = new Map(entries.map((entry) => [entry.path, entry]));
  return entries.filter(
    (entry) => lastOf.get(entry.path) === entry || isOnDisk(entry, looks.get(lookKey(posFile, entry))),
  );
}

function isOnDisk(entry: PositionEntry, look: FileLook | undefined): boolean {
  return look?.atPath?.inode === entry.inode || look?.renamed?.stat.inode === entry.inode;
}

function groupInodes(entries: readonly PositionEntry[]): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = new Map<string, Set<string>>();
  for (const { path, inode } of entries) groups.set(path, (groups.get(path) ?? new Set()).add(inode));
  return groups;
}

interface Moment {
  readonly snapshot: Snapshot;
  readonly reading: PosFileReading;
  readonly before: Before;
}

/** When this entry moved last: dated by the pos file's own mtime, between the look before and this one. */
function movementOf(entry: PositionEntry, known: EntryMemory | undefined, moment: Moment): Millis {
  // in_tail letting a file go (position null) is no progress in reading.
  if (known !== undefined && (known.position === entry.position || entry.position === null))
    return known.movedAt;
  const { snapshot, reading, before } = moment;
  if (before.previous === undefined || reading.kind !== 'read') return snapshot.at;
  const earliest = Math.min(before.previous.at + 1, snapshot.at);
  return Math.max(earliest, snapshot.at - Math.max(0, reading.writtenAgo));
}

function latest(instants: readonly (Millis | undefined)[]): Millis | undefined {
  return instants.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
}
