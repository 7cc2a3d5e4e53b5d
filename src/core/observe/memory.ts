import { type FluentdReading, isSame, type ProcessIdentity } from '../fluentd/processes.ts';
import type { PosFileReading, Snapshot } from '../look/snapshot.ts';
import type { Millis } from '../text/units.ts';
import { departedIn } from './departed.ts';
import { rememberEntry } from './judge-entry.ts';
import { NO_MAIN, watchMain } from './main-process.ts';
import { missedIn } from './missed.ts';
import type { KnownEntry, KnownPosFile, Memory, Observation, ObservedFile, Portions } from './observation.ts';

/** So many entries without a line in the pos file are remembered. */
const MOST_VANISHED = 10_000;

/** The memory before the first look. */
export function newMemory(at: Millis): Memory {
  return {
    entries: new Map(),
    departed: new Map(),
    awaited: new Map(),
    missed: new Map(),
    posFiles: new Map(),
    fluentdSeen: false,
    supervisor: undefined,
    workers: [],
    workersSince: undefined,
    main: NO_MAIN,
    began: at,
  };
}

/** The memory after a look. */
export function* remember(
  memory: Memory,
  snapshot: Snapshot,
  found: Pick<Observation, 'files' | 'unknown' | 'unlisted'>,
): Portions<Memory> {
  const { at, fluentd, posFiles, followed } = snapshot;
  const { files, unknown } = found;
  const entries = yield* rememberEntries(memory, files, at);
  // A pos file that is half written shows fewer entries than there are.
  const departed = unknown.length > 0 ? memory.departed : departedIn(memory, entries, files, at);
  yield entries.size;
  for (const key of replacedIn(memory, files)) entries.delete(key);
  return {
    entries,
    departed,
    ...missedIn(memory, { ...found, followed, at }),
    posFiles: rememberPosFiles(memory, posFiles, at),
    supervisor: fluentd.kind === 'running' ? sinceWhen(memory, fluentd.supervisor, at) : memory.supervisor,
    ...workersIn(memory, fluentd, at),
    fluentdSeen: memory.fluentdSeen || fluentd.kind !== 'absent',
    main: watchMain(memory.main, snapshot.mains ?? [], at),
    began: memory.began,
  };
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
    entries.set(file.key, rememberEntry(file, memory.entries.get(file.key), at));
    yield 1;
  }
  forgetOldest(entries, files);
  return entries;
}

/** The entries whose path has one with another inode now. Their own inode may be a later file's: they are forgotten. */
function replacedIn({ entries }: Memory, files: readonly ObservedFile[]): readonly string[] {
  const paths = new Set(files.filter(({ key }) => !entries.has(key)).map(({ path }) => path));
  if (paths.size === 0) return [];
  const keys = new Set(files.map(({ key }) => key));
  return [...entries].flatMap(([key, { path, inode }]) =>
    inode !== '0' && !keys.has(key) && paths.has(path) ? [key] : [],
  );
}

/** A main may have Fluentd follow ever more files: of those that vanished the newest are remembered. */
function forgetOldest(entries: Map<string, KnownEntry>, files: readonly ObservedFile[]): void {
  const surplus = entries.size - files.length - MOST_VANISHED;
  if (surplus <= 0) return;
  const here = new Set(files.map(({ key }) => key));
  const vanished = [...entries.keys()].filter((key) => !here.has(key));
  for (const key of vanished.slice(0, surplus)) entries.delete(key);
}

/** One that is no longer looked at stays remembered. */
function rememberPosFiles(
  { posFiles }: Memory,
  readings: readonly PosFileReading[],
  at: Millis,
): Memory['posFiles'] {
  const all = new Map<string, KnownPosFile>();
  for (const [path, known] of posFiles) all.set(path, { ...known, emptySince: undefined });
  for (const reading of readings) {
    const { count = 0, wasFilled = false, emptySince = at } = posFiles.get(reading.path) ?? {};
    const now = reading.kind === 'read' ? reading.entries.length : count;
    all.set(reading.path, {
      count: now,
      wasFilled: wasFilled || now > 0,
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

/** A worker that dies is started again, and would die of a signal at first. */
function workersIn(
  { workers, workersSince }: Memory,
  fluentd: FluentdReading,
  at: Millis,
): Pick<Memory, 'workers' | 'workersSince'> {
  if (fluentd.kind !== 'running') return { workers, workersSince };
  const isNew = fluentd.workers.some((worker) => !workers.some((known) => isSame(known, worker)));
  return { workers: fluentd.workers, workersSince: isNew ? at : workersSince };
}
