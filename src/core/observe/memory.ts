import { isSame, type ProcessIdentity } from '../fluentd/processes.ts';
import type { FileState } from '../look/lag.ts';
import type { PosFileReading, Snapshot } from '../look/snapshot.ts';
import { entryKey } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import { awaitedIn, HELD_UP, letGo, restOf } from './abandoned.ts';
import { keepLedger, NO_LEDGER } from './ledger.ts';
import { NO_MAIN, watchMain } from './main-process.ts';
import type { Abandoned, EntryMemory, Limits, Memory, ObservedFile } from './observation.ts';
import { NO_WORKERS, watchWorkers } from './workers.ts';

export const NO_MEMORY: Memory = {
  entries: new Map(),
  emptySince: new Map(),
  filled: new Set(),
  counts: new Map(),
  leftBehind: 0,
  abandoned: new Map(),
  awaited: new Map(),
  closedSince: new Map(),
  fluentdSeen: false,
  supervisor: undefined,
  workersSeen: false,
  ...NO_WORKERS,
  main: NO_MAIN,
  ledger: NO_LEDGER,
  began: Number.NaN,
};

interface Seen {
  readonly files: readonly ObservedFile[];
  readonly movedAt: Millis | undefined;
  readonly limits: Limits;
}

/** The memory after a look. */
export function remember(memory: Memory, snapshot: Snapshot, { files, movedAt, limits }: Seen): Memory {
  const { fluentd } = snapshot;
  const entries = rememberEntries(memory, files, snapshot.at);
  const { followed } = snapshot;
  const workers = watchWorkers(memory, fluentd, memory.supervisor?.identity);
  return {
    entries,
    awaited: awaitedIn(followed, knownBy(entries)),
    abandoned: new Map([...memory.abandoned, ...abandonedNow(memory, files, { entries, snapshot, limits })]),
    ...workers,
    ledger: keepLedger(memory.ledger, snapshot.buffers, {
      at: snapshot.at,
      movedAt,
      isReplaced: workers.workerReplaced,
      isChild: limits.parent,
    }),
    emptySince: emptySinceOf(snapshot, memory),
    filled: new Set([...memory.filled, ...snapshot.posFiles.filter(isFilled).map(({ path }) => path)]),
    counts: new Map([...memory.counts, ...snapshot.posFiles.flatMap(countOf)]),
    supervisor:
      fluentd.kind === 'running' ? sinceWhen(memory, fluentd.supervisor, snapshot.at) : memory.supervisor,
    leftBehind: Math.max(memory.leftBehind, leftBehind(memory, files, entries)),
    closedSince: closedSinceOf(snapshot, memory),
    fluentdSeen: memory.fluentdSeen || fluentd.kind !== 'absent',
    main: watchMain(memory.main, snapshot.mains ?? [], snapshot.at),
    began: Number.isNaN(memory.began) ? snapshot.at : memory.began,
    workersSeen: memory.workersSeen || (fluentd.kind === 'running' && fluentd.workers.length > 0),
  };
}

interface Now {
  readonly entries: Memory['entries'];
  readonly snapshot: Snapshot;
  readonly limits: Limits;
}

function abandonedNow(
  memory: Memory,
  files: readonly ObservedFile[],
  { entries, snapshot, limits }: Now,
): readonly (readonly [string, Abandoned])[] {
  // Below a limit it goes on reading, however slowly.
  const dropped = (limits.tail.readLimit === undefined ? files : []).flatMap((file) => {
    const abandoned = letGo(file, memory.entries.get(entryKey(file)), entries.get(entryKey(file)));
    return abandoned === undefined ? [] : [[entryKey(file), abandoned] as const];
  });
  const { followed } = snapshot;
  const there = new Set(followed.flatMap((source) => source.files.map(({ inode }) => inode)));
  const isKnown = knownBy(entries);
  const vanished = [...memory.awaited]
    .filter(([inode, { path }]) => !there.has(inode) && !isKnown(path, inode))
    .map(([inode, { path, size }]) => [`${path}\t${inode}`, { path, bytes: size }] as const);
  return followed.some(({ unknown }) => unknown !== undefined) ? dropped : [...dropped, ...vanished];
}

/** Whether Fluentd has, or had, an entry for the path or the file. */
function knownBy(entries: Memory['entries']): (path: string, inode: string) => boolean {
  const keys = [...entries.keys()].map((key) => key.split('\t'));
  const paths = new Set(keys.map(([path]) => path));
  const inodes = new Set(keys.map(([, inode]) => inode));
  return (path, inode) => paths.has(path) || inodes.has(inode);
}

function countOf(reading: PosFileReading): readonly (readonly [string, number])[] {
  return reading.kind === 'read' ? [[reading.path, reading.entries.length]] : [];
}

function sinceWhen({ supervisor }: Memory, identity: ProcessIdentity, at: Millis): Memory['supervisor'] {
  return supervisor !== undefined && isSame(supervisor.identity, identity)
    ? supervisor
    : { identity, since: at };
}

/** A known file now has another inode at its path, or nothing, or was let go with bytes left; or a known path has an entry with another inode. */
export function hasRotation(files: readonly ObservedFile[], { entries }: Memory): boolean {
  const wentAway = files.some((file) => {
    const known = entries.get(entryKey(file));
    if (known === undefined || known.state === file.state) return false;
    return IS_AWAY.has(file.state) || (file.state === 'unwatched' && restOf(known) > 0);
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
    const leftSince = left ? (known?.leftSince ?? at) : undefined;
    entries.set(entryKey(file), {
      state: file.state,
      position: file.position,
      size: sizeToRemember(file, known),
      ...(file.state === 'unwatched'
        ? { reached: known?.reached ?? null, whole: known?.whole ?? null }
        : { reached: file.position, whole: wholeOf(file, known) }),
      movedAt: file.movedAt,
      leftSince,
      heldUp: isHeldUp(file, known, { at, leftSince }),
    });
  }
  return entries;
}

interface Stand {
  readonly at: Millis;
  readonly leftSince: Millis | undefined;
}

/** Away from its path it stays what it was until then. */
function isHeldUp(
  { state, movedAt }: ObservedFile,
  known: EntryMemory | undefined,
  { at, leftSince }: Stand,
): boolean {
  const since = AT_ITS_PATH.has(state) ? leftSince : known?.leftSince;
  return since === undefined
    ? known?.heldUp === true && !AT_ITS_PATH.has(state)
    : at - Math.max(movedAt, since) >= HELD_UP;
}

/** A renamed file shows its own size; one that is nowhere, the last that it had. */
function wholeOf({ state, size }: ObservedFile, known: EntryMemory | undefined): number | null {
  return state === 'truncated' ? null : (size ?? known?.whole ?? null);
}

const AT_ITS_PATH: ReadonlySet<FileState> = new Set([
  'caught-up',
  'partial-line',
  'behind',
  'blocked',
  'truncated',
]);

/**
 * After a rename in_tail gives the entry to the new file, and reads the rest of the old one from memory: at once, or as slowly as
 * a limit has it (in_tail.rb:672-684).
 */
function leftBehind({ entries }: Memory, files: readonly ObservedFile[], now: Memory['entries']): number {
  const keys = new Set(files.map(entryKey));
  const paths = new Set(files.filter((file) => !entries.has(entryKey(file))).map(({ path }) => path));
  const replaced = [...entries]
    .filter(([key]) => !keys.has(key) && paths.has(key.slice(0, key.lastIndexOf('\t'))))
    .map(([, known]) => known);
  const away = files
    .filter(({ state }) => !AT_ITS_PATH.has(state))
    .flatMap((file) => now.get(entryKey(file)) ?? []);
  return [...replaced, ...away].reduce((most, known) => Math.max(most, restOf(known)), 0);
}

/** What was written after a truncation was never read, whatever the old position says. */
function sizeToRemember({ state, size }: ObservedFile, known: EntryMemory | undefined): number | null {
  if (state === 'missing') return known?.size ?? null;
  return state === 'truncated' ? null : size;
}

const HAS_BYTES_LEFT: ReadonlySet<FileState> = new Set(['behind', 'blocked', 'truncated', 'rotated']);

export function closedSinceOf(
  { closed, at, fluentd }: Snapshot,
  { closedSince }: Memory,
): ReadonlyMap<string, Millis> {
  // Without a Fluentd nobody knows what it may read.
  if (fluentd.kind === 'absent') return closedSince;
  return new Map([...closed].map((path) => [path, closedSince.get(path) ?? at]));
}

function emptySinceOf(snapshot: Snapshot, memory: Memory): ReadonlyMap<string, Millis> {
  const empty = snapshot.posFiles.filter(({ kind }) => kind === 'empty');
  return new Map(empty.map(({ path }) => [path, memory.emptySince.get(path) ?? snapshot.at]));
}

function isFilled(reading: PosFileReading): boolean {
  return reading.kind === 'read' && reading.entries.length > 0;
}
