import { type FluentdReading, isSame, type ProcessIdentity } from '../fluentd/processes.ts';
import type { FileState } from '../look/file-state.ts';
import type { PosFileReading, Snapshot } from '../look/snapshot.ts';
import type { Millis } from '../text/units.ts';
import { abandonedNow, awaitedIn, isHeldUp, summedUp, wholeOf } from './abandoned.ts';
import { lostWith, watchGone } from './gone-files.ts';
import { replacedIn, restOf } from './gone-now.ts';
import { rememberEntry } from './judge-entry.ts';
import { NO_MAIN, watchMain } from './main-process.ts';
import type { KnownEntry, Limits, Memory, Observation, ObservedFile, Portions } from './observation.ts';
import { firstAnswers, keepLedger, NO_LEDGER, replacedAgents } from './output-ledger.ts';
import { hasUnseenOrphan, NO_WORKERS, watchWorkers } from './workers.ts';

/** So many entries without a line in the pos file are remembered. */
export const MOST_VANISHED = 10_000;

/** The memory before the first look. */
export function newMemory(at: Millis): Memory {
  return {
    entries: new Map(),
    emptySince: new Map(),
    filled: new Set(),
    counts: new Map(),
    abandoned: new Map(),
    gone: new Map(),
    awaited: new Map(),
    fluentdSeen: false,
    beganSeen: false,
    supervisor: undefined,
    workersSeen: false,
    ...NO_WORKERS,
    main: NO_MAIN,
    ledger: NO_LEDGER,
    closedSince: new Map(),
    began: at,
  };
}

interface Seen extends Pick<Observation, 'files' | 'movedAt' | 'unknown'> {
  /** The look before. */
  readonly before: Millis | undefined;
}

/** The memory after a look. */
export function* remember(
  memory: Memory,
  snapshot: Snapshot,
  { files, movedAt, unknown, before }: Seen,
  limits: Limits,
): Portions<Memory> {
  const { at, fluentd, followed, posFiles } = snapshot;
  const replaced = replacedIn(memory, files);
  const entries = yield* rememberEntries(memory, files, at);
  const workers = watchWorkers(memory, fluentd, memory.supervisor?.identity, at);
  const answering = firstAnswers(memory.ledger, snapshot.buffers);
  const isReplaced = workers.workerReplaced || hasUnseenOrphan(memory, fluentd, answering);
  const beganSeen = memory.beganSeen || posFiles.some(({ kind }) => kind === 'missing');
  const running = new Set(fluentd.kind === 'running' ? fluentd.workers.map(({ pid }) => pid) : []);
  // The one before may have read what waited for it, where a pos file shows nothing for now.
  const isUntold = isReplaced && unknown.length > 0 && memory.awaited.size > 0 && !memory.workerStarting;
  const readAt = isUntold ? at : movedAt;
  const circumstances = { at, movedAt: readAt, isReplaced, running, isChild: limits.parent, beganSeen };
  const { looks, gone: goneLooks } = snapshot;
  // What a Fluentd that was away or starting had not opened, it may never have opened.
  const isUnopened = isReplaced || (memory.workerStarting && fluentd.kind !== 'absent');
  const isOther = isUnopened || replacedAgents(memory.ledger, snapshot.buffers).length > 0;
  const isLimited = limits.tail.readLimit !== undefined;
  const isReaderGone = isOther || (isLimited && hasNoWorker(memory, fluentd));
  const look = {
    at,
    before,
    followed,
    opened: snapshot.opened,
    gone: goneLooks,
    looks,
    files,
    entries,
    replaced,
    isBelieved: unknown.length === 0,
    isReaderGone,
    workers,
  };
  const gone = watchGone(memory, look, limits);
  yield files.length;
  const forGood = [...memory.abandoned].filter(([key]) => !memory.gone.has(key));
  const abandoned = new Map([
    ...forGood,
    ...abandonedNow(memory, look, limits),
    ...lostWith(gone, { files, followed }),
  ]);
  yield entries.size;
  const awaited = awaitedIn(memory, look);
  yield entries.size;
  for (const [key] of replaced) entries.delete(key);
  return {
    entries,
    gone,
    awaited,
    abandoned: summedUp(abandoned, gone),
    ...workers,
    ledger: keepLedger(memory.ledger, snapshot.buffers, circumstances),
    beganSeen,
    closedSince: closedSinceOf(snapshot, memory),
    emptySince: emptySinceOf(snapshot, memory),
    filled: new Set([...memory.filled, ...posFiles.filter(isFilled).map(({ path }) => path)]),
    counts: new Map([...memory.counts, ...posFiles.flatMap(countOf)]),
    supervisor: fluentd.kind === 'running' ? sinceWhen(memory, fluentd.supervisor, at) : memory.supervisor,
    fluentdSeen: memory.fluentdSeen || fluentd.kind !== 'absent',
    main: watchMain(memory.main, snapshot.mains ?? [], at),
    began: memory.began,
    workersSeen: memory.workersSeen || (fluentd.kind === 'running' && fluentd.workers.length > 0),
  };
}

function hasNoWorker({ workersSeen, fluentdSeen }: Memory, fluentd: FluentdReading): boolean {
  if (fluentd.kind === 'running') return workersSeen && !fluentd.alone && fluentd.workers.length === 0;
  return fluentd.kind === 'absent' && fluentdSeen;
}

/** Entries that vanish stay remembered, until their path has another file: a reader of a half-written pos file must not take their return for a movement. */
function* rememberEntries(
  memory: Memory,
  files: readonly ObservedFile[],
  at: Millis,
): Portions<Map<string, KnownEntry>> {
  const entries = new Map<string, KnownEntry>(memory.entries);
  yield entries.size;
  for (const file of files) {
    const { key, path, inode, state, position } = file;
    const known = memory.entries.get(key);
    const { size, movedAt, leftSince, neverSeen } = rememberEntry(file, known, at, at === memory.began);
    const born = file.born ?? known?.born;
    const reached = position ?? known?.reached ?? null;
    const whole = wholeOf(file, known, memory.awaited);
    const heldUp = isHeldUp(file, known, leftSince, at);
    // Not by spreading: see `judge`.
    entries.set(key, {
      position,
      size,
      movedAt,
      leftSince,
      neverSeen,
      path,
      inode,
      born,
      state,
      reached,
      whole,
      heldUp,
    });
    yield 1;
  }
  forgetOldest(entries, files);
  return entries;
}

/** A main may have Fluentd follow ever more files: of those that vanished the newest are remembered. */
function forgetOldest(entries: Map<string, KnownEntry>, files: readonly ObservedFile[]): void {
  const surplus = entries.size - files.length - MOST_VANISHED;
  if (surplus <= 0) return;
  const here = new Set(files.map(({ key }) => key));
  const vanished = [...entries.keys()].filter((key) => !here.has(key));
  for (const key of vanished.slice(0, surplus)) entries.delete(key);
}

/** A known file now has another inode at its path, or nothing, or was let go with bytes left; or a known path has an entry with another inode. */
export function hasRotation(files: readonly ObservedFile[], { entries }: Memory): boolean {
  let paths: Set<string> | undefined;
  return files.some((file) => {
    const known = entries.get(file.key);
    if (known === undefined) {
      paths ??= new Set([...entries.values()].filter(({ inode }) => inode !== '0').map(({ path }) => path));
      return paths.has(file.path);
    }
    if (known.state === file.state) return false;
    return IS_AWAY.has(file.state) || (file.state === 'unwatched' && restOf(known) > 0);
  });
}

const IS_AWAY: ReadonlySet<FileState> = new Set(['rotated', 'missing']);

function countOf(reading: PosFileReading): readonly (readonly [string, number])[] {
  return reading.kind === 'read' ? [[reading.path, reading.entries.length]] : [];
}

function sinceWhen({ supervisor }: Memory, identity: ProcessIdentity, at: Millis): Memory['supervisor'] {
  return supervisor !== undefined && isSame(supervisor.identity, identity)
    ? supervisor
    : { identity, since: at };
}

export function closedSinceOf(
  { closed, unsure, at, fluentd }: Snapshot,
  { closedSince }: Memory,
): ReadonlyMap<string, Millis> {
  // Without a Fluentd nobody knows what it may read.
  if (fluentd.kind === 'absent') return closedSince;
  const still = [...closedSince.keys()].filter((path) => unsure?.has(path));
  return new Map([...closed, ...still].map((path) => [path, closedSince.get(path) ?? at]));
}

function emptySinceOf(snapshot: Snapshot, memory: Memory): ReadonlyMap<string, Millis> {
  const empty = snapshot.posFiles.filter(({ kind }) => kind === 'empty');
  return new Map(empty.map(({ path }) => [path, memory.emptySince.get(path) ?? snapshot.at]));
}

function isFilled(reading: PosFileReading): boolean {
  return reading.kind === 'read' && reading.entries.length > 0;
}
