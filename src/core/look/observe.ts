import { entryKey, type KeyedEntry, type PositionEntry } from '../pos-file/pos-file.ts';
import type { Limits } from '../progress/limits.ts';
import type { Millis } from '../text/units.ts';
import { withLastAnswers } from '../witness/reports.ts';
import { judge } from './judge-entry.ts';
import { NO_MEMORY, remember, watchMain } from './memory.ts';
import type { Known, Memory, Observation, ObservedFile } from './observation.ts';
import { type Facts, progressOverdue } from './progress-from-files.ts';
import { progressIn } from './progress-in.ts';
import { reachOf, workersOf } from './reach.ts';
import { entriesOf, type FileLook, type PosFileReading, type Snapshot } from './snapshot.ts';
import { undiscoveredIn, unlistedIn } from './undiscovered.ts';
import { unknownIn } from './unknown-pos-file.ts';

/** The meaning of `snapshot` after `previous`. Pure. `knownBefore`: what is known of the files before a first look. */
export function observe(
  previous: Observation | undefined,
  snapshot: Snapshot,
  limits: Limits,
  knownBefore: KnownOf = () => undefined,
): Observation {
  const memory = previous?.memory ?? NO_MEMORY;
  if (previous !== undefined && isStillAtRest(previous.atRest, snapshot))
    return withProgress(factsOf(previous, snapshot, previous, memory), previous, limits);
  const knownOf: KnownOf = previous === undefined ? knownBefore : ({ key }) => memory.entries.get(key);
  const ofFiles = observeFiles(previous, snapshot, limits, { memory, knownOf });
  const facts = factsOf(previous, snapshot, ofFiles, remember(memory, snapshot, ofFiles));
  const atRest = facts.readSince === undefined ? undefined : snapshot;
  return withProgress({ ...facts, atRest }, previous, limits);
}

/** Whether nothing has changed since a look that found everything read: what has not changed is the same object. */
export function isStillAtRest(before: Snapshot | undefined, now: Snapshot): boolean {
  const isSamePosFile = (one: PosFileReading, at: number) => {
    const same = now.posFiles[at];
    return one.kind === 'read' && same?.kind === 'read' && one.entries === same.entries;
  };
  return (
    before?.looks === now.looks &&
    before.followed === now.followed &&
    before.fluentd === now.fluentd &&
    before.posFiles.length === now.posFiles.length &&
    before.posFiles.every(isSamePosFile)
  );
}

function withProgress(seen: Facts, before: Observation | undefined, limits: Limits): Observation {
  const progress = progressIn(seen, before?.progress, limits);
  const isStarted = !progress.doubts.some(({ kind }) => kind === 'not-started');
  const hasRead = seen.hasRead || (!seen.hasFiles && progress.files > 0 && isStarted);
  return { ...seen, progress, hasRead, reach: reachOf(seen, limits), workers: workersOf(seen) };
}

/** What is known of an entry from before this look. */
type KnownOf = (entry: KeyedEntry, look: FileLook, posFileWrittenAgo: Millis) => Known | undefined;

/** A first look that no other follows: it remembers nothing, which saves a tenth of the time. */
export function observeOnce(snapshot: Snapshot, limits: Limits, knownBefore: KnownOf): Observation {
  const known = { memory: NO_MEMORY, knownOf: knownBefore };
  const ofFiles = observeFiles(undefined, snapshot, limits, known);
  return withProgress(factsOf(undefined, snapshot, ofFiles, NO_MEMORY), undefined, limits);
}

function factsOf(
  before: Observation | undefined,
  snapshot: Snapshot,
  ofFiles: FileFacts,
  memory: Memory,
): Facts {
  const { lookedAt, at, depth, source, buffers, fluentd, requests } = snapshot;
  const reports = snapshot.reports && withLastAnswers(snapshot.reports, before?.lastAnswers);
  const isGone = fluentd.kind === 'absent' && memory.fluentdSeen;
  return {
    ...ofFiles,
    ...{ lookedAt, at, source, reports, buffers, fluentd, requests, memory },
    extent: depth,
    lastAnswers: reports ?? before?.lastAnswers,
    goneSince: isGone ? (before?.goneSince ?? at) : undefined,
    main: watchMain(before?.main, snapshot.mains, at),
    began: before?.began ?? at,
  };
}

type FileFacts = Pick<Observation, keyof ReturnType<typeof observeFiles>>;

function observeFiles(
  previous: Observation | undefined,
  snapshot: Snapshot,
  limits: Limits,
  { memory, knownOf }: { readonly memory: Memory; readonly knownOf: KnownOf },
) {
  const { at, posFiles, followed } = snapshot;
  const files = posFiles.flatMap((reading) => observeEntries(reading, snapshot, knownOf));
  const movedAt = latest(previous?.movedAt, files);
  const undiscovered = followed.flatMap((source) =>
    undiscoveredIn(source, entriesOf(posFiles, source.posFile)),
  );
  const unknown = unknownIn({ snapshot, undiscovered, memory, limits });
  const unlisted = unlistedIn(followed);
  const isRead =
    unknown.length === 0 &&
    files.every(({ read }) => read) &&
    undiscovered.every(({ read }) => read) &&
    unlisted.length === 0;
  const movedNow = movedAt !== previous?.movedAt ? movedAt : undefined;
  const areThere = posFiles.length > 0 && posFiles.every(({ kind }) => kind !== 'missing');
  const started = previous?.started === true || areThere;
  return {
    files,
    unknown,
    started,
    hasRead: previous?.hasRead === true || (started && files.some(({ position }) => position !== 0)),
    hasFiles: posFiles.length > 0,
    movedAt,
    readSince: isRead ? (movedNow ?? previous?.readSince ?? at) : undefined,
    undiscovered,
    unlisted,
  };
}

function observeEntries(
  reading: PosFileReading,
  { at, looks, followed }: Snapshot,
  knownOf: KnownOf,
): readonly ObservedFile[] {
  if (reading.kind !== 'read') return [];
  const { path, writtenAgo, entries } = reading;
  // Few entries need these maps: those with a missing or rotated file.
  const lastOf = once(() => {
    const last = new Map<string, KeyedEntry>();
    for (const entry of entries) last.set(entry.path, entry);
    return last;
  });
  const isLast = (entry: KeyedEntry) => lastOf().get(entry.path) === entry;
  // With follow_inodes an entry keeps the first path of its file.
  const byInode = followed.filter((source) => source.byInode && source.posFile === path);
  const keyOfFile = (file: Omit<PositionEntry, 'position'>) =>
    byInode.length > 0 ? file.inode : entryKey(file);
  // Includes listed files without an entry: they are undiscovered, and must not count twice.
  const keys = once(() => new Set([...entries, ...byInode.flatMap(({ files }) => files)].map(keyOfFile)));
  const hasInode = ({ path }: KeyedEntry, inode: string) => keys().has(keyOfFile({ path, inode }));
  const posFile = { path, at, isLast, hasInode };
  const files: ObservedFile[] = [];
  for (const entry of entries) {
    const look = looks.get(entry.key) ?? {};
    const file = judge(entry, look, knownOf(entry, look, writtenAgo), posFile);
    if (file !== undefined) files.push(file);
  }
  return files;
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}

function latest(before: Millis | undefined, files: readonly ObservedFile[]): Millis | undefined {
  let last = before;
  for (const { movedAt } of files) if (last === undefined || movedAt > last) last = movedAt;
  return last;
}

type Now = Pick<Snapshot, 'at' | 'fluentd' | 'requests'>;

/** While a look is overdue: the previous observation, marked as unknown. */
export function observeOverdue(
  before: Observation,
  now: Now,
  waitsFor: 'witness' | 'files',
  limits: Limits,
): Observation {
  const overdue = {
    ...before,
    ...now,
    lookedAt: now.at,
    extent: 'overdue' as const,
    // An old answer proves nothing about the present.
    reports: undefined,
    readSince: undefined,
    unknown: [],
    progress: progressOverdue(before, now.at, waitsFor),
  };
  return { ...overdue, reach: reachOf(overdue, limits), workers: workersOf(overdue) };
}

export function observeNothing(now: Now, limits: Limits): Observation {
  const nothing = { posFiles: [], looks: new Map(), followed: [], mains: undefined };
  const unasked = { depth: 'light', source: 'outside', reports: undefined, buffers: undefined } as const;
  return observe(undefined, { ...now, lookedAt: now.at, ...nothing, ...unasked }, limits);
}
