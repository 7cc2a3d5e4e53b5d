import type { FileState } from '../look/file-state.ts';
import type { Snapshot } from '../look/snapshot.ts';
import { entryKey, entryKeyIn } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import type { Awaited, Gone, KnownEntry, Limits, Memory, ObservedFile } from './observation.ts';
import { isRefusing } from './output-ledger.ts';
import type { WorkerMemory } from './workers.ts';

/** in_tail looks each second: a position that has stood for longer beside bytes was held up, and not just about to move. */
export const HELD_UP: Millis = 2_000;
const LONG_AGO = Number.NEGATIVE_INFINITY;

export const AT_ITS_PATH: ReadonlySet<FileState> = new Set([
  'caught-up',
  'partial-line',
  'behind',
  'blocked',
  'truncated',
]);

type Entries = Memory['entries'];
type Whole = Pick<KnownEntry, 'path' | 'inode' | 'born' | 'whole' | 'reached'>;

/** What a look tells of the files that went away. */
export interface Look extends Pick<Snapshot, 'at' | 'followed' | 'looks'> {
  /** The look before. */
  readonly before: Millis | undefined;
  readonly opened: Snapshot['opened'] | undefined;
  readonly gone: Snapshot['gone'] | undefined;
  readonly files: readonly ObservedFile[];
  /** The entries as this look leaves them. */
  readonly entries: Entries;
  /** The entries of before whose path has one with another inode now. */
  readonly replaced: readonly (readonly [string, KnownEntry])[];
  /** Every pos file shows all its entries. */
  readonly isBelieved: boolean;
  /** What had them open is gone: another worker has taken its place, or may still have been starting, or there is none, which below a limit does not read on at its shutdown. */
  readonly isReaderGone: boolean;
  /** In this look. */
  readonly workers: Pick<WorkerMemory, 'workerReplaced' | 'workerStarting'>;
}

/** Bytes that were left when the file was last seen: all of it where in_tail has not noticed that it was truncated. */
export function restOf({ whole, reached }: Pick<KnownEntry, 'whole' | 'reached'>): number {
  if (whole === null || reached === null) return 0;
  return reached > whole ? whole : whole - reached;
}

/** The files that are seen in this look to have gone away from their paths. */
export function goneNow(
  memory: Memory,
  look: Look,
  tail: Limits['tail'],
): readonly (readonly [string, Gone])[] {
  const { at, entries, isReaderGone } = look;
  const replaced = look.replaced.flatMap(([key, known]) => {
    if (known.state === 'unwatched' || memory.gone.get(key)?.hasEntry === false) return [];
    const isHeldBack = isDroppedOnceHeldUp(known, memory, tail);
    const isLost = isReaderGone || isCut(known);
    return [[key, { ...goneFrom(key, known, at, isLost), isHeldBack, hasEntry: false }] as const];
  });
  const changed = look.files.flatMap((file) => {
    const { key } = file;
    const before = memory.entries.get(key);
    const now = entries.get(key);
    if (now === undefined || before?.state === file.state) return [];
    if (file.state === 'unwatched') {
      const isStillThere = look.looks.get(key)?.atPath?.inode === file.inode;
      if (before === undefined && !isStillThere) return [];
      // in_tail reads on for rotate_wait before it lets go; since 1.18, where it looks by inode, afterwards.
      const since = isStillThere || before === undefined || !AT_ITS_PATH.has(before.state) ? LONG_AGO : at;
      const isHeldBack = isDroppedOnceHeldUp(now, memory, tail);
      return [[key, { ...goneFrom(key, now, since, false), isHeldBack, hasEntry: false }] as const];
    }
    if (AT_ITS_PATH.has(file.state) || before === undefined || !AT_ITS_PATH.has(before.state)) return [];
    const isShort = tail.readLimit !== undefined && file.size !== null && file.size < (before.whole ?? 0);
    if (isShort) return [[key, goneFrom(key, before, at, true)] as const];
    return [[key, goneFrom(key, now, at, isReaderGone || isCut(before))] as const];
  });
  const cut = look.files.flatMap((file) => cutOf(file, memory, at));
  const vanished = look.isBelieved ? vanishedIn(memory, look.files) : [];
  return [
    ...foundAndGone(memory, look),
    ...vanished.map(([key, known]) => [key, { ...goneFrom(key, known, at, true), hasEntry: false }] as const),
    ...replaced,
    ...changed,
    ...cut,
  ];
}

/** in_tail has found a file, or may have, and main renamed it, between two looks: in_tail reads the rest, unless a buffer is full. */
function foundAndGone({ awaited }: Memory, look: Look): readonly (readonly [string, Gone])[] {
  const { at, followed, files, opened, isReaderGone, workers } = look;
  const isUnknown = followed.some(({ unknown }) => unknown !== undefined);
  // A worker that was starting when the look began may have opened it since: the next look would take it for unopened.
  if (awaited.size === 0 || isUnknown || workers.workerStarting) return [];
  const here = new Set(followed.flatMap((source) => source.files.map(({ inode }) => inode)));
  const entryOf = new Map(files.map((file) => [file.inode, file]));
  const mayBeFound = foundUnseen(look);
  return [...awaited].flatMap(([inode, file]) => {
    const { posFile, path, size, before, since } = file;
    const own = entryOf.get(inode);
    const isFound = own !== undefined || opened?.has(inode) === true;
    if (here.has(inode) || !(isFound || mayBeFound(inode, file))) return [];
    const position = own?.position ?? 0;
    const rest = Math.max(0, size - position);
    const known = { path, inode, whole: size, reached: position };
    // in_tail turns to a file within a second.
    const isUnproven = before === undefined || at - since >= HELD_UP;
    const isLost = rest > 0 && (isFound ? workers.workerReplaced : isReaderGone || isUnproven);
    const key = entryKeyIn(posFile, known);
    return [[key, { ...goneFrom(key, known, at, isLost), hasEntry: own !== undefined }] as const];
  });
}

/**
 * The files that in_tail may have found, and turned from to the next one of their path, unseen: in another container nobody sees what it
 * has open. It may still be reading them.
 */
export function foundUnseen({ opened, followed, files }: Look) {
  const byInode = new Set(followed.filter((source) => source.byInode).map(({ posFile }) => posFile));
  const inodeAt = inodesByPath(files);
  return (inode: string, { posFile, path, before }: Awaited): boolean => {
    const now = inodeAt.get(path);
    const hasTurned = now !== undefined && now !== inode && now !== before;
    return hasTurned && opened === undefined && !byInode.has(posFile);
  };
}

/** The inode in the last entry of each path, which keeps it when in_tail lets go of the file. */
export function inodesByPath(files: readonly ObservedFile[]): ReadonlyMap<string, string> {
  return new Map(files.map(({ path, inode }) => [path, inode]));
}

/** Once a file is away from its path, in_tail does not see that it was truncated, nor what is written to it before its old end. */
function isCut({ state }: KnownEntry): boolean {
  return state === 'truncated';
}

function goneFrom(key: string, known: Whole, since: Millis, isLost: boolean): Gone {
  const { path, inode, born, whole } = known;
  const posFile = key.slice(0, -entryKey(known).length - 1);
  return {
    posFile,
    path,
    inode,
    born,
    since,
    lastHere: since,
    size: whole,
    rest: restOf(known),
    late: 0,
    isLost,
    isHeldBack: false,
    isCut: false,
    hasEntry: true,
    isClosed: false,
    isOver: false,
    isOpen: undefined,
  };
}

/**
 * After rotate_wait in_tail drops what a full buffer has kept it from reading (in_tail.rb, detach_watcher_after_rotate_wait); below
 * a limit it reads on to the end first, but a position that stands still shows nothing.
 */
function isDroppedOnceHeldUp(known: KnownEntry, { ledger }: Memory, tail: Limits['tail']): boolean {
  const isHeldUp = tail.readLimit === undefined && known.heldUp;
  return tail.mayRefuse && (isHeldUp || isRefusing(ledger)) && restOf(known) > 0;
}

/** in_tail has begun a truncated file anew, and may have read the rest just before. */
function cutOf(file: ObservedFile, memory: Memory, at: Millis): readonly (readonly [string, Gone])[] {
  const { key, position, size } = file;
  const known = memory.entries.get(key);
  if (known === undefined || position === null || size === null || !AT_ITS_PATH.has(file.state)) return [];
  const hasBegunAnew = known.whole !== null && size < known.whole && position < (known.reached ?? 0);
  return hasBegunAnew && !known.heldUp
    ? [[`${key}\ttruncated`, { ...goneFrom(key, known, at, false), isCut: true }]]
    : [];
}

/** The entries whose path has one with another inode now. Their own inode may be a later file's: they are forgotten. */
export function replacedIn(
  memory: Pick<Memory, 'entries'>,
  files: readonly ObservedFile[],
): readonly (readonly [string, KnownEntry])[] {
  const added = files.filter((file) => !memory.entries.has(file.key));
  if (added.length === 0 || memory.entries.size === 0) return [];
  const keys = new Set(files.map(({ key }) => key));
  const paths = new Set(added.map(({ path }) => path));
  return [...memory.entries].filter(
    ([key, { path, inode }]) => inode !== '0' && !keys.has(key) && paths.has(path),
  );
}

/** The entries that a new worker has dropped at its start: they had no file (position_file.rb:133). It may have been written to just before. */
function vanishedIn(
  { entries, gone }: Pick<Memory, 'entries' | 'gone'>,
  files: readonly ObservedFile[],
): readonly (readonly [string, KnownEntry])[] {
  const paths = new Set(files.map(({ path }) => path));
  return [...entries].filter(
    ([key, known]) => AT_ITS_PATH.has(known.state) && !paths.has(known.path) && !gone.has(key),
  );
}
