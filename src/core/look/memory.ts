import { isSame } from '../fluentd/processes.ts';
import { type FluentdReading, isUp, type ProcessIdentity } from '../progress/fluentd-reading.ts';
import type { Millis } from '../text/units.ts';
import type { FileState } from './file-state.ts';
import { lastSizeOf } from './judge-entry.ts';
import type { KnownPosFile, MainProcess, Memory, Observation, ObservedFile } from './observation.ts';
import type { PosFileReading, Snapshot } from './snapshot.ts';

export const NO_MEMORY: Memory = {
  entries: new Map(),
  departed: new Map(),
  departedAt: undefined,
  posFiles: new Map(),
  fluentdSeen: false,
  supervisor: undefined,
  workers: [],
  workersSince: undefined,
};

const NO_MAIN: MainProcess = {
  sightings: new Map(),
  seen: false,
  goneSince: undefined,
  longestGap: undefined,
};

export function remember(
  memory: Memory,
  snapshot: Snapshot,
  found: Pick<Observation, 'files' | 'unknown'>,
): Memory {
  const { at, fluentd, posFiles } = snapshot;
  const entries = rememberEntries(memory, found);
  const ofWorkers = workersIn(memory, fluentd, at);
  const isNew = memory.workersSince === undefined || ofWorkers.workersSince !== memory.workersSince;
  return {
    entries,
    ...departedIn(memory, entries, at),
    posFiles: rememberPosFiles(memory, posFiles, at, isNew),
    supervisor: fluentd.kind === 'running' ? sinceWhen(memory, fluentd.supervisor, at) : memory.supervisor,
    ...ofWorkers,
    fluentdSeen: memory.fluentdSeen || isUp(fluentd),
  };
}

/** Keeps vanished entries of an unknown pos file, so that their return does not look like a movement. */
function rememberEntries(
  { entries: before }: Memory,
  { files, unknown }: Pick<Observation, 'files' | 'unknown'>,
): Memory['entries'] {
  const doubted = new Set(unknown.map(({ about }) => about));
  const entries = new Map<string, ObservedFile>();
  for (const [key, known] of before) if (doubted.has(known.posFile)) entries.set(key, known);
  for (const file of files) entries.set(file.key, file);
  return entries;
}

/** posidle remembers only the newest: a hostile main may rename or remove files without end. */
const MOST_DEPARTED = 1_000;

const UNREAD = 'it left its path, or was cut short, before its position showed that it was read';

/** States in which the entry's own file is at the path, as long as it was. */
const AT_ITS_PATH: ReadonlySet<FileState> = new Set(['caught-up', 'partial-line', 'behind', 'blocked']);

/** The files that are no longer whole at the path of their entry. `entries`: the memory after this look. */
function departedIn(memory: Memory, entries: Memory['entries'], at: Millis) {
  const departed = new Map(memory.departed);
  let { departedAt } = memory;
  for (const [key, now] of entries) {
    if (isAtPath(now)) departed.delete(key);
    else if (now.position !== null && !memory.entries.has(key)) departedAt = at;
  }
  for (const [key, old] of memory.entries) {
    const now = entries.get(key);
    // A new entry has inode 0 until in_tail opens the file (position_file.rb:47).
    if ((now && isAtPath(now)) || old.inode === '0') continue;
    if (isAtPath(old)) departedAt = at;
    const position = now?.position ?? old.position;
    const size = (now && lastSizeOf(now)) ?? lastSizeOf(old);
    if (position === null || size === null) continue;
    if (size > position)
      departed.set(key, { kind: 'closed-unread', about: old.path, bytes: size - position, why: UNREAD });
    else departed.delete(key);
  }
  return { departed: new Map([...departed].slice(-MOST_DEPARTED)), departedAt };
}

function isAtPath({ state }: ObservedFile): boolean {
  return AT_ITS_PATH.has(state);
}

/** Keeps pos files that this look did not include. */
function rememberPosFiles(
  { posFiles }: Memory,
  readings: readonly PosFileReading[],
  at: Millis,
  isNew: boolean,
): Memory['posFiles'] {
  const all = new Map<string, KnownPosFile>();
  for (const [path, known] of posFiles) all.set(path, { ...known, emptySince: undefined });
  for (const { path, ...reading } of readings) {
    const { count = 0, emptySince = at, file } = posFiles.get(path) ?? {};
    all.set(path, {
      count: reading.kind === 'read' ? reading.entries.length : count,
      file: (isNew ? undefined : file) ?? (reading.kind === 'read' ? reading.file : undefined),
      emptySince: reading.kind === 'empty' ? emptySince : undefined,
    });
  }
  return all;
}

function sinceWhen({ supervisor }: Memory, identity: ProcessIdentity, at: Millis): Memory['supervisor'] {
  return supervisor !== undefined && isSame(supervisor.identity, identity)
    ? supervisor
    : { identity, since: at };
}

/** `workersSince` restarts with each new worker, because a signal kills a worker that is just starting. */
function workersIn({ workers, workersSince }: Memory, fluentd: FluentdReading, at: Millis) {
  if (fluentd.kind !== 'running') return { workers, workersSince };
  const isNew = fluentd.workers.some((worker) => !workers.some((known) => isSame(known, worker)));
  return { workers: fluentd.workers, workersSince: isNew ? at : workersSince };
}

/** Longer than an exec probe with the same name lives. */
const LEAST_LIFE: Millis = 400;

/** Counts only processes that live for a while: a probe is not main, and must not hide that main has ended. */
export function watchMain(
  before: MainProcess = NO_MAIN,
  matches: readonly ProcessIdentity[] | undefined,
  at: Millis,
): MainProcess {
  if (matches === undefined) return before;
  const keys = matches.map(({ pid, startTime }) => `${pid} ${startTime}`);
  const sightings = new Map(keys.map((key) => [key, before.sightings.get(key) ?? at]));
  const isThere = [...sightings.values()].some((since) => at - since >= LEAST_LIFE);
  const seen = before.seen || isThere;
  const { goneSince, longestGap } = before;
  const isBack = isThere && goneSince !== undefined;
  return {
    sightings,
    seen,
    goneSince: seen && !isThere ? (goneSince ?? at) : undefined,
    longestGap: isBack ? Math.max(longestGap ?? 0, at - goneSince) : longestGap,
  };
}
