import type { FileState } from '../look/file-state.ts';
import type { Snapshot } from '../look/snapshot.ts';
import { entryKey, entryKeyIn } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import type { Gone, KnownEntry, Limits, Memory, ObservedFile } from './observation.ts';
import { isRefusing } from './output-ledger.ts';
import type { WorkerMemory } from './workers.ts';

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
    return [[key, { ...goneFrom(key, known, at, isReaderGone), isHeldBack, hasEntry: false }] as const];
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
    return [[key, goneFrom(key, now, at, isReaderGone)] as const];
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

/** in_tail has found a file, and main renamed it, between two looks: in_tail reads the rest, unless a buffer is full. */
function foundAndGone(
  { awaited }: Memory,
  { at, followed, files, opened, workers }: Look,
): readonly (readonly [string, Gone])[] {
  const isUnknown = followed.some(({ unknown }) => unknown !== undefined);
  // A worker that was starting when the look began may have opened it since: the next look would take it for unopened.
  if (awaited.size === 0 || isUnknown || workers.workerStarting) return [];
  const here = new Set(followed.flatMap((source) => source.files.map(({ inode }) => inode)));
  const entryOf = new Map(files.map((file) => [file.inode, file]));
  return [...awaited].flatMap(([inode, { posFile, path, size }]) => {
    const own = entryOf.get(inode);
    if (here.has(inode) || (own === undefined && opened?.has(inode) !== true)) return [];
    const position = own?.position ?? 0;
    const rest = Math.max(0, size - position);
    const known = { path, inode, whole: size, reached: position };
    const isLost = workers.workerReplaced && rest > 0;
    const key = entryKeyIn(posFile, known);
    return [[key, { ...goneFrom(key, known, at, isLost), hasEntry: own !== undefined }] as const];
  });
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
  const isCut = known.whole !== null && size < known.whole && position < (known.reached ?? 0);
  return isCut && !known.heldUp ? [[`${key}\ttruncated`, { ...goneFrom(key, known, at, false), isCut }]] : [];
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
