import { entriesOf, type PosFileReading, type Snapshot } from '../look/snapshot.ts';
import type { Subject } from '../look/subject.ts';
import { undiscoveredIn, unlistedIn } from '../look/undiscovered.ts';
import { entryKey, type KeyedEntry, type PositionEntry } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import { ofTestimony } from '../witness/testimony.ts';
import { judge } from './judge-entry.ts';
import { newMemory, remember, watchMain } from './memory.ts';
import type { Limits, Memory, Observation, ObservedFile, Portions } from './observation.ts';
import { whyUnknown } from './unknown-pos-file.ts';

/** The meaning of `snapshot` after `previous`. Pure. */
export function observe(previous: Observation | undefined, snapshot: Snapshot, limits: Limits): Observation {
  const portions = observeInPortions(previous, snapshot, limits);
  for (;;) {
    const portion = portions.next();
    if (portion.done) return portion.value;
  }
}

/** The same in portions: 50,000 files take about a second of CPU. */
export function* observeInPortions(
  previous: Observation | undefined,
  snapshot: Snapshot,
  limits: Limits,
): Portions<Observation> {
  if (previous !== undefined && isStillAtRest(previous.atRest, snapshot))
    return observeRest(previous, snapshot);
  const seen = yield* observeAnew(previous, snapshot, limits);
  // For other kinds the same facts may mean something else later.
  const isSettled = seen.fluentd.kind === 'running' || seen.fluentd.kind === 'absent';
  return { ...seen, atRest: isSettled && seen.readSince !== undefined ? snapshot : undefined };
}

/** Whether nothing has changed since a look at rest: the collector hands over the same objects for unchanged facts. */
export function isStillAtRest(before: Snapshot | undefined, now: Snapshot): boolean {
  return (
    before?.looks === now.looks &&
    before.followed === now.followed &&
    before.fluentd === now.fluentd &&
    before.posFiles.length === now.posFiles.length &&
    before.posFiles.every((reading, index) => {
      const same = now.posFiles[index];
      return reading.kind === 'read' && same?.kind === 'read' && reading.entries === same.entries;
    })
  );
}

/** Repeats the observation at a new time. Only the witness, the buffers and main's process may say more. */
function observeRest(before: Observation, snapshot: Snapshot): Observation {
  const { memory } = before;
  const main = watchMain(memory.main, snapshot.mains ?? [], snapshot.at);
  return { ...before, ...plainFacts(snapshot), memory: { ...memory, main } };
}

function plainFacts({ lookedAt, at, depth, source, testimony, buffers, fluentd, requests }: Snapshot) {
  const witness = testimony && { testimony, progress: ofTestimony(testimony) };
  const extent = depth === 'light' ? ('light' as const) : ('all' as const);
  return { lookedAt, at, extent, source, witness, buffers, fluentd, requests };
}

function* observeAnew(
  previous: Observation | undefined,
  snapshot: Snapshot,
  limits: Limits,
): Portions<Omit<Observation, 'atRest'>> {
  const { at, posFiles, followed } = snapshot;
  const memory = previous?.memory ?? newMemory(at);
  const unknown = posFiles.flatMap((reading) => whyUnknown(reading, snapshot, memory, limits));
  const files: ObservedFile[] = [];
  for (const reading of posFiles)
    for (const file of observeEntries(reading, snapshot, memory, previous?.at)) {
      if (file !== undefined) files.push(file);
      yield 1;
    }
  const movedAt = latest([previous?.movedAt, ...files.map((file) => file.movedAt)]);
  const undiscovered = followed.flatMap((source) =>
    undiscoveredIn(source, entriesOf(posFiles, source.posFile)),
  );
  yield undiscovered.length + files.length;
  const unlisted = unlistedIn(followed);
  const isRead =
    unknown.length === 0 &&
    files.every((file) => file.read) &&
    !undiscovered.some(({ size }) => size > 0) &&
    unlisted.length === 0;
  const movedNow = movedAt !== previous?.movedAt ? movedAt : undefined;
  const isGone = snapshot.fluentd.kind === 'absent' && memory.fluentdSeen;
  return {
    ...plainFacts(snapshot),
    files,
    unknown,
    started: posFiles.length > 0 && posFiles.every(({ kind }) => kind !== 'missing'),
    logged: previous?.logged === true || files.some(({ position }) => position !== 0),
    movedAt,
    readSince: isRead ? (movedNow ?? previous?.readSince ?? at) : undefined,
    undiscovered,
    unlisted,
    goneSince: isGone ? (previous?.goneSince ?? at) : undefined,
    memory: yield* remember(memory, snapshot, { files, unknown, unlisted }),
  };
}

function* observeEntries(
  reading: PosFileReading,
  { at, looks, followed }: Snapshot,
  memory: Memory,
  before: Millis | undefined,
): Generator<ObservedFile | undefined> {
  if (reading.kind !== 'read') return;
  const { path, writtenAgo, entries } = reading;
  // Few entries need these maps: those with a missing or rotated file.
  const lastOf = once(() => new Map(entries.map((each) => [each.path, each])));
  const isLast = (entry: KeyedEntry) => lastOf().get(entry.path) === entry;
  // With follow_inodes an entry keeps the first path of its file.
  const byInode = followed.filter((source) => source.byInode && source.posFile === path);
  const keyOfFile = (file: Omit<PositionEntry, 'position'>) =>
    byInode.length > 0 ? file.inode : entryKey(file);
  // Includes listed files without an entry: they are undiscovered, and must not count twice.
  const keys = once(() => new Set([...entries, ...byInode.flatMap(({ files }) => files)].map(keyOfFile)));
  const hasInode = ({ path }: KeyedEntry, inode: string) => keys().has(keyOfFile({ path, inode }));
  const posFile = { path, at, before, writtenAgo, isLast, hasInode };
  for (const entry of entries)
    yield judge(entry, looks.get(entry.key) ?? {}, memory.entries.get(entry.key), posFile);
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}

function latest(instants: readonly (Millis | undefined)[]): Millis | undefined {
  return instants.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
}

type Now = Pick<Snapshot, 'at' | 'fluentd' | 'requests'>;

const OVERDUE = 'was not looked at in time: there are very many files, or a mount does not answer';

/** While a look is overdue: the previous observation, marked as unknown. */
export function observeOverdue(
  before: Observation,
  now: Now,
  { posFiles }: Pick<Subject, 'posFiles'>,
): Observation {
  const [path = 'the pos file'] = posFiles;
  return {
    ...before,
    ...now,
    lookedAt: now.at,
    extent: 'overdue',
    // An old answer proves nothing about the present.
    witness: undefined,
    readSince: undefined,
    unknown: [{ path, why: OVERDUE, empty: false }],
  };
}

export function observeNothing(now: Now, limits: Limits): Observation {
  const nothing = { posFiles: [], looks: new Map(), followed: [], mains: undefined };
  const unasked = { source: 'outside', testimony: undefined, buffers: undefined } as const;
  const snapshot = { ...now, lookedAt: now.at, ...nothing, ...unasked, depth: 'light' } as const;
  return observe(undefined, snapshot, limits);
}
