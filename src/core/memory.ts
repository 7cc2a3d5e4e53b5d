import type { FileState } from './lag.ts';
import { type MainProcess, NO_MAIN, watchMain } from './main-process.ts';
import type { ObservedFile } from './observation.ts';
import { entryKey } from './pos-file.ts';
import { isSame, type ProcessIdentity } from './processes.ts';
import type { PosFileReading, Snapshot } from './snapshot.ts';
import type { Millis } from './units.ts';

/** What has to be remembered from look to look. */
export interface Memory {
  readonly entries: ReadonlyMap<string, EntryMemory>;
  /** Pos files: since when empty, and whether they ever held an entry. */
  readonly emptySince: ReadonlyMap<string, Millis>;
  readonly filled: ReadonlySet<string>;
  /** How many entries each pos file had. */
  readonly counts: ReadonlyMap<string, number>;
  /** Bytes that were left in files whose entry went over to a new file. */
  readonly leftBehind: number;
  readonly fluentdSeen: boolean;
  /** The supervisor that runs, and since when it has been seen. */
  readonly supervisor: { readonly identity: ProcessIdentity; readonly since: Millis } | undefined;
  readonly workersSeen: boolean;
  readonly main: MainProcess;
  /** The first look. */
  readonly began: Millis;
}

export interface EntryMemory {
  readonly state: FileState;
  readonly position: number | null;
  readonly size: number | null;
  readonly movedAt: Millis;
  /** Since when bytes have been left. */
  readonly leftSince: Millis | undefined;
}

export const NO_MEMORY: Memory = {
  entries: new Map(),
  emptySince: new Map(),
  filled: new Set(),
  counts: new Map(),
  leftBehind: 0,
  fluentdSeen: false,
  supervisor: undefined,
  workersSeen: false,
  main: NO_MAIN,
  began: Number.NaN,
};

/** The memory after a look. */
export function remember(memory: Memory, snapshot: Snapshot, files: readonly ObservedFile[]): Memory {
  const { fluentd } = snapshot;
  return {
    entries: rememberEntries(memory, files, snapshot.at),
    emptySince: emptySinceOf(snapshot, memory),
    filled: new Set([...memory.filled, ...snapshot.posFiles.filter(isFilled).map(({ path }) => path)]),
    counts: new Map([...memory.counts, ...snapshot.posFiles.flatMap(countOf)]),
    supervisor:
      fluentd.kind === 'running' ? sinceWhen(memory, fluentd.supervisor, snapshot.at) : memory.supervisor,
    leftBehind: Math.max(memory.leftBehind, leftBehind(memory, files)),
    fluentdSeen: memory.fluentdSeen || fluentd.kind !== 'absent',
    main: watchMain(memory.main, snapshot.mains ?? [], snapshot.at),
    began: Number.isNaN(memory.began) ? snapshot.at : memory.began,
    workersSeen: memory.workersSeen || (fluentd.kind === 'running' && fluentd.workers.length > 0),
  };
}

function countOf(reading: PosFileReading): readonly (readonly [string, number])[] {
  return reading.kind === 'read' ? [[reading.path, reading.entries.length]] : [];
}

function sinceWhen({ supervisor }: Memory, identity: ProcessIdentity, at: Millis): Memory['supervisor'] {
  return supervisor !== undefined && isSame(supervisor.identity, identity)
    ? supervisor
    : { identity, since: at };
}

/** A known file now has another inode at its path, or nothing; or a known path has an entry with another inode. */
export function hasRotation(files: readonly ObservedFile[], { entries }: Memory): boolean {
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
      size: sizeToRemember(file, known),
      movedAt: file.movedAt,
      leftSince: left ? (known?.leftSince ?? at) : undefined,
    });
  }
  return entries;
}

/**
 * After a rename in_tail gives the entry to the new file, and reads the rest of the old one from memory: at once, or as slowly as
 * a limit has it (in_tail.rb:672-684).
 */
function leftBehind({ entries }: Memory, files: readonly ObservedFile[]): number {
  const keys = new Set(files.map(entryKey));
  const paths = new Set(files.filter((file) => !entries.has(entryKey(file))).map(({ path }) => path));
  const left = [...entries]
    .filter(([key]) => !keys.has(key) && paths.has(key.slice(0, key.lastIndexOf('\t'))))
    .map(([, { size, position }]) => Math.max(0, (size ?? 0) - (position ?? size ?? 0)));
  return Math.max(0, ...left);
}

/** What was written after a truncation was never read, whatever the old position says. */
function sizeToRemember({ state, size }: ObservedFile, known: EntryMemory | undefined): number | null {
  if (state === 'missing') return known?.size ?? null;
  return state === 'truncated' ? null : size;
}

const HAS_BYTES_LEFT: ReadonlySet<FileState> = new Set(['behind', 'blocked', 'truncated', 'rotated']);

function emptySinceOf(snapshot: Snapshot, memory: Memory): ReadonlyMap<string, Millis> {
  const empty = snapshot.posFiles.filter(({ kind }) => kind === 'empty');
  return new Map(empty.map(({ path }) => [path, memory.emptySince.get(path) ?? snapshot.at]));
}

function isFilled(reading: PosFileReading): boolean {
  return reading.kind === 'read' && reading.entries.length > 0;
}
