import type { BuffersReading } from './buffers.ts';
import { type FileState, type Lag, lagOf } from './lag.ts';
import type { Policy } from './policy.ts';
import { entryKey, latestEntries, type PositionEntry } from './pos-file.ts';
import type { FluentdReading } from './processes.ts';
import type { FileLook, FollowedReading, PosFileReading, Snapshot, StopRequest } from './snapshot.ts';
import type { Millis } from './units.ts';

/** What the looks so far mean: the snapshot held against the observation before it. */
export interface Observation {
  readonly at: Millis;
  readonly files: readonly ObservedFile[];
  /** Why a pos file cannot be believed for now; empty: all of them can. */
  readonly unknown: readonly UnknownPosFile[];
  /** Every pos file exists: Fluentd's start is over, signals are safe. */
  readonly started: boolean;
  /** Fluentd has read something, in this look or before. */
  readonly logged: boolean;
  /** The last movement of any entry. */
  readonly movedAt: Millis | undefined;
  /** Since when every look has found everything read; undefined: not now. */
  readonly readSince: Millis | undefined;
  /** The last time that a file was renamed, replaced or removed. */
  readonly rotatedAt: Millis | undefined;
  /** Files that in_tail is to read and has no entry for yet; undefined: not looked at this time. */
  readonly undiscovered: readonly UndiscoveredFile[] | undefined;
  /** undefined: not looked at this time. */
  readonly buffers: BuffersReading | undefined;
  readonly fluentd: FluentdReading;
  /** Since when a fluentd that was seen has been gone. */
  readonly goneSince: Millis | undefined;
  readonly requests: readonly StopRequest[];
  readonly memory: Memory;
}

export interface ObservedFile extends Lag {
  readonly path: string;
  readonly position: number | null;
  readonly inode: string;
  readonly movedAt: Millis;
}

export interface UnknownPosFile {
  readonly path: string;
  readonly why: string;
  /** Nothing but an empty file: Fluentd runs and has found no log file yet, or is just rewriting it. */
  readonly empty: boolean;
}

export interface UndiscoveredFile {
  readonly path: string;
  readonly size: number;
  /** How long in_tail may take to see it. */
  readonly refreshInterval: Millis;
}

/** What has to be remembered from look to look. */
export interface Memory {
  readonly entries: ReadonlyMap<string, EntryMemory>;
  /** Pos files: since when empty, and whether they ever held an entry. */
  readonly emptySince: ReadonlyMap<string, Millis>;
  readonly filled: ReadonlySet<string>;
  readonly fluentdSeen: boolean;
  readonly workersSeen: boolean;
}

interface EntryMemory {
  readonly state: FileState;
  readonly position: number | null;
  readonly size: number | null;
  readonly movedAt: Millis;
  /** Since when bytes have been left. */
  readonly leftSince: Millis | undefined;
}

const NO_MEMORY: Memory = {
  entries: new Map(),
  emptySince: new Map(),
  filled: new Set(),
  fluentdSeen: false,
  workersSeen: false,
};

/** What `snapshot` means after `previous`; pure. */
export function observe(previous: Observation | undefined, snapshot: Snapshot, policy: Policy): Observation {
  const memory = previous?.memory ?? NO_MEMORY;
  const emptySince = emptySinceOf(snapshot, memory);
  const unknown = snapshot.posFiles.flatMap((reading) =>
    doubtOf(reading, emptySince, { snapshot, memory, policy }),
  );
  const files = snapshot.posFiles.flatMap((reading) =>
    observeEntries(reading, snapshot, { previous, policy }),
  );
  const movedAt = latest([previous?.movedAt, ...files.map((file) => file.movedAt)]);
  const undiscovered = snapshot.followed?.flatMap((followed) => undiscoveredIn(followed, snapshot.posFiles));
  const isRead =
    unknown.length === 0 && files.every((file) => file.read) && !undiscovered?.some(({ size }) => size > 0);
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
    buffers: snapshot.buffers,
    fluentd: snapshot.fluentd,
    goneSince: isAbsent && memory.fluentdSeen ? (previous?.goneSince ?? snapshot.at) : undefined,
    requests: snapshot.requests,
    memory: {
      entries: rememberEntries(memory, files, snapshot.at),
      emptySince,
      filled: new Set([...memory.filled, ...snapshot.posFiles.filter(isFilled).map(({ path }) => path)]),
      fluentdSeen: memory.fluentdSeen || !isAbsent,
      workersSeen: memory.workersSeen || hasWorkers(snapshot.fluentd),
    },
  };
}

function hasWorkers(fluentd: FluentdReading): boolean {
  return fluentd.kind === 'running' && fluentd.workers.length > 0;
}

/** A known file now has another inode at its path, or nothing; or a known path has an entry with another inode. */
function hasRotation(files: readonly ObservedFile[], { entries }: Memory): boolean {
  const wentAway = files.some((file) => {
    const known = entries.get(entryKey(file));
    return known !== undefined && IS_AWAY.has(file.state) && known.state !== file.state;
  });
  const added = files.filter((file) => !entries.has(entryKey(file)));
  if (wentAway || added.length === 0) return wentAway;
  const paths = new Set(
    [...entries.keys()].filter((key) => !key.endsWith('\t0')).map((key) => key.split('\t')[0]),
  );
  return added.some(({ path }) => paths.has(path));
}

const IS_AWAY: ReadonlySet<FileState> = new Set(['rotated', 'missing']);

/** in_tail has an entry for each path that it follows; the one of a file that it let go does not count. */
export function undiscoveredIn(
  followed: FollowedReading,
  posFiles: readonly PosFileReading[],
): readonly UndiscoveredFile[] {
  const posFile = posFiles.find(({ path }) => path === followed.posFile);
  if (posFile === undefined) return [];
  const entries = posFile.kind === 'read' ? posFile.entries : [];
  const living = entries.filter(({ position }) => position !== null);
  const known = new Set(living.map(({ path, inode }) => (followed.byInode ? inode : path)));
  return followed.files
    .filter(({ path, inode }) => !known.has(followed.byInode ? inode : path))
    .map(({ path, size }) => ({ path, size, refreshInterval: followed.refreshInterval }));
}

interface Doubts {
  readonly snapshot: Snapshot;
  readonly memory: Memory;
  readonly policy: Policy;
}

function doubtOf(
  reading: PosFileReading,
  emptySince: ReadonlyMap<string, Millis>,
  doubts: Doubts,
): readonly UnknownPosFile[] {
  const { path } = reading;
  switch (reading.kind) {
    case 'read':
      return [];
    case 'missing':
      return [{ path, why: 'is not there yet', empty: false }];
    case 'unreadable':
      return [{ path, why: `cannot be read: ${reading.error}`, empty: false }];
    case 'empty':
      return hasNothingToFollow(path, doubts) || isTrulyEmpty(path, emptySince, doubts)
        ? []
        : [{ path, why: 'is empty for now', empty: true }];
  }
}

/** No file of any source of this pos file holds a byte: there is nothing that it could have an entry for. */
function hasNothingToFollow(path: string, { snapshot }: Doubts): boolean {
  const sources = snapshot.followed?.filter(({ posFile }) => posFile === path) ?? [];
  return sources.length > 0 && sources.every(({ files }) => files.every(({ size }) => size === 0));
}

/**
 * Fluentd empties a pos file for some 80 µs when it compacts it (position_file.rb, truncate then write), and leaves a new one
 * empty until it finds a log file, at the latest after one refresh_interval.
 */
function isTrulyEmpty(path: string, emptySince: ReadonlyMap<string, Millis>, doubts: Doubts): boolean {
  const { snapshot, memory, policy } = doubts;
  const span = snapshot.at - (emptySince.get(path) ?? snapshot.at);
  return span >= (memory.filled.has(path) ? policy.settle : policy.refreshInterval + policy.settle);
}

function emptySinceOf(snapshot: Snapshot, memory: Memory): ReadonlyMap<string, Millis> {
  const empty = snapshot.posFiles.filter(({ kind }) => kind === 'empty');
  return new Map(empty.map(({ path }) => [path, memory.emptySince.get(path) ?? snapshot.at]));
}

function isFilled(reading: PosFileReading): boolean {
  return reading.kind === 'read' && reading.entries.length > 0;
}

interface Before {
  readonly previous: Observation | undefined;
  readonly policy: Policy;
}

function observeEntries(
  reading: PosFileReading,
  snapshot: Snapshot,
  before: Before,
): readonly ObservedFile[] {
  if (reading.kind !== 'read') return [];
  const entries = livingEntries(latestEntries(reading.entries, undefined), snapshot.looks);
  const inodesOf = groupInodes(entries);
  return entries.map((entry) => {
    const look = snapshot.looks.get(entryKey(entry)) ?? {};
    const known = before.previous?.memory.entries.get(entryKey(entry));
    const movedAt = movementOf(entry, known, { snapshot, reading, before });
    const standsSince = Math.max(movedAt, known?.leftSince ?? snapshot.at);
    const lag = lagOf(entry, look, {
      lastSize: known?.size ?? null,
      stuck: snapshot.at - standsSince >= before.policy.blockedAfter,
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
  looks: ReadonlyMap<string, FileLook>,
): readonly PositionEntry[] {
  const lastOf = new Map(entries.map((entry) => [entry.path, entry]));
  return entries.filter(
    (entry) => lastOf.get(entry.path) === entry || isOnDisk(entry, looks.get(entryKey(entry))),
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
  return Math.max(before.previous.at, snapshot.at - Math.max(0, reading.writtenAgo));
}

/** Entries that vanish stay remembered: a reader of a half-written pos file must not take their return for a movement. */
function rememberEntries(
  memory: Memory,
  files: readonly ObservedFile[],
  at: Millis,
): ReadonlyMap<string, EntryMemory> {
  const entries = new Map(memory.entries);
  for (const file of files) {
    const known = memory.entries.get(entryKey(file));
    const left = HAS_BYTES_LEFT.has(file.state);
    entries.set(entryKey(file), {
      state: file.state,
      position: file.position,
      size: file.state === 'missing' ? (known?.size ?? null) : file.size,
      movedAt: file.movedAt,
      leftSince: left ? (known?.leftSince ?? at) : undefined,
    });
  }
  return entries;
}

const HAS_BYTES_LEFT: ReadonlySet<FileState> = new Set(['behind', 'blocked', 'truncated', 'rotated']);

function latest(instants: readonly (Millis | undefined)[]): Millis | undefined {
  return instants.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
}
