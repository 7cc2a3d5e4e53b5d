import { IN_TAIL_TICK, timeToRead } from '../in-tail/pace.ts';
import type { FileState } from '../look/file-state.ts';
import type { GoneLook, Snapshot } from '../look/snapshot.ts';
import { entryKey, entryKeyIn } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import { hasTakenAll, isRefusing } from './ledger.ts';
import type { Abandoned, Gone, KnownEntry, Limits, Memory, ObservedFile } from './observation.ts';
import type { WorkerMemory } from './workers.ts';

/** in_tail looks each second: a position that has stood for longer beside bytes was held up, and not just about to move. */
export const HELD_UP: Millis = 2_000;
/** How long it is told by the file that came after it whether it was held up. */
const SUCCESSOR_WATCH: Millis = 10_000;
/** What a buffer refuses shows in its counters, which are looked at so soon after a movement. */
const TOLD_AFTER: Millis = 2_000;
const LONG_AGO = Number.NEGATIVE_INFINITY;
/** So many are watched: a hostile pos file may have let go of a million. */
const MOST_WATCHED = 1_000;

export const AT_ITS_PATH: ReadonlySet<FileState> = new Set([
  'caught-up',
  'partial-line',
  'behind',
  'blocked',
  'truncated',
]);

type Entries = Memory['entries'];
type Whole = Pick<KnownEntry, 'path' | 'inode' | 'whole' | 'reached'>;

/** What a look tells of the files that went away. */
interface Look extends Pick<Snapshot, 'at' | 'followed' | 'looks'> {
  readonly opened: Snapshot['opened'] | undefined;
  readonly gone: Snapshot['gone'] | undefined;
  readonly files: readonly ObservedFile[];
  /** The entries as this look leaves them. */
  readonly entries: Entries;
  /** What had them open is gone: another worker has taken its place, or may still have been starting, or there is none, which below a limit does not read on at its shutdown. */
  readonly isReaderGone: boolean;
  /** In this look. */
  readonly workers: Pick<WorkerMemory, 'workerReplaced' | 'workerStarting'>;
}

/** Bytes that were left when the file was last seen. */
export function restOf({ whole, reached }: Pick<KnownEntry, 'whole' | 'reached'>): number {
  return whole === null || reached === null ? 0 : Math.max(0, whole - reached);
}

/** The files that went away from their paths so far: what is left of them, and what came too late. */
export function watchGone(memory: Memory, look: Look, { tail }: Limits): Memory['gone'] {
  const gone = new Map<string, Gone>();
  const here = new Map(
    look.files.filter(({ state }) => AT_ITS_PATH.has(state)).map((file) => [file.key, file]),
  );
  for (const [key, file] of memory.gone) {
    const successor = file.isCut ? undefined : here.get(key);
    if (successor === undefined)
      gone.set(key, update(key, file, { seen: look.gone?.get(key), look, memory, tail }));
    // Another file has got the inode: what was lost with the old one stays told.
    else if (lostOf(file) > 0 && (successor.size ?? 0) < (file.size ?? 0))
      gone.set(`${key}\tbefore`, { ...file, isCut: true });
  }
  for (const [key, file] of goneNow(memory, look, tail)) {
    const before = gone.get(key);
    if (gone.size >= MOST_WATCHED) forgetOne(gone);
    if (before !== undefined || gone.size < MOST_WATCHED) gone.set(key, before ? merged(before, file) : file);
  }
  return gone;
}

function lostOf({ isLost, isHeldBack, rest, late }: Gone): number {
  return (isLost || isHeldBack ? rest : 0) + late;
}

/** Forgets the oldest of which nothing was lost, and nothing more can be. */
function forgetOne(gone: Map<string, Gone>): void {
  for (const [key, file] of gone)
    if ((file.isOver || file.isCut) && lostOf(file) === 0) {
      gone.delete(key);
      return;
    }
}

/** What of the files that went away is lost. Under another name a file may be followed still. */
export function lostWith(
  gone: Memory['gone'],
  { files, followed }: Pick<Look, 'files' | 'followed'>,
): readonly (readonly [string, Abandoned])[] {
  const lost = [...gone].filter(([, file]) => lostOf(file) > 0);
  if (lost.length === 0) return [];
  const here = files.filter(({ state }) => AT_ITS_PATH.has(state)).map(({ inode }) => inode);
  const followedInodes = new Set([
    ...here,
    ...followed.flatMap((source) => source.files.map(({ inode }) => inode)),
  ]);
  return lost
    .filter(([, { isCut, inode }]) => isCut || !followedInodes.has(inode))
    .map(([key, file]) => [key, { path: file.path, bytes: lostOf(file) }] as const);
}

/** The entries whose path has one with another inode now. */
function replacedIn(
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

/** The entries with bytes left that a new worker has dropped at its start: they had no file (position_file.rb:133). */
function vanishedIn(
  { entries, gone }: Pick<Memory, 'entries' | 'gone'>,
  files: readonly ObservedFile[],
): readonly (readonly [string, KnownEntry])[] {
  const paths = new Set(files.map(({ path }) => path));
  return [...entries].filter(
    ([key, known]) =>
      AT_ITS_PATH.has(known.state) && restOf(known) > 0 && !paths.has(known.path) && !gone.has(key),
  );
}

/** Where its path got a new file only later, in_tail had closed the old one before. */
function merged(before: Gone, now: Gone): Gone {
  const isLost = before.isLost || now.isLost;
  const isHeldBack = before.isHeldBack || now.isHeldBack;
  return before.isClosed
    ? { ...before, isLost, isHeldBack, hasEntry: now.hasEntry }
    : { ...now, since: Math.max(before.since, now.since), isLost, isHeldBack, late: before.late };
}

function goneNow(memory: Memory, look: Look, tail: Limits['tail']): readonly (readonly [string, Gone])[] {
  const { at, entries, isReaderGone } = look;
  const replaced = replacedIn(memory, look.files).flatMap(([key, known]) => {
    if (known.state === 'unwatched' || memory.gone.get(key)?.hasEntry === false) return [];
    const isHeldBack = isDroppedOnceHeldUp(known, memory, tail);
    const isLost = isReaderGone && restOf(known) > 0;
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
    return [[key, goneFrom(key, now, at, isReaderGone && restOf(now) > 0)] as const];
  });
  const cut = look.files.flatMap((file) => cutOf(file, memory, at));
  const vanished = vanishedIn(memory, look.files);
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
  const { path, inode, whole } = known;
  const posFile = key.slice(0, -entryKey(known).length - 1);
  return {
    posFile,
    path,
    inode,
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

function update(key: string, before: Gone, { seen, look, memory, tail }: Update): Gone {
  const gone = { ...before, isHeldBack: isHeldBack(before, { look, memory, tail }) };
  const isReading = look.at <= readUntil(gone, tail, seen?.isOpen ?? gone.isOpen);
  // A worker that has just come has nothing of it open: what the one before had counts.
  const mayBeUnread = look.isReaderGone && !gone.isCut && look.at <= readUntil(gone, tail, gone.isOpen);
  const isLost = gone.isLost || (gone.rest > 0 && mayBeUnread);
  if (seen === undefined) return { ...gone, isLost };
  const { size } = seen;
  // When its process is gone, nobody can look.
  const isOpen = seen.isOpen ?? gone.isOpen;
  if (size === undefined) return { ...gone, isLost, isOpen, isOver: !isReading };
  const added = Math.max(0, size - (gone.size ?? size));
  const own = gone.hasEntry ? look.entries.get(key) : undefined;
  const left = own === undefined ? gone.rest + added : restOf(own);
  if (gone.isClosed) return { ...gone, isLost, isOpen, late: Math.max(gone.late, Math.min(added, left)) };
  return { ...gone, isLost, isOpen, size, rest: left, isClosed: !isReading };
}

interface Update {
  readonly seen: GoneLook | undefined;
  readonly look: Look;
  readonly memory: Memory;
  readonly tail: Limits['tail'];
}

/** A full buffer keeps in_tail from reading the rest. Where there is room in time, in_tail reads it at its next tick. */
function isHeldBack(gone: Gone, { look, memory: { ledger }, tail }: Omit<Update, 'seen'>): boolean {
  if (!tail.mayRefuse) return false;
  const mayBeTaken = !gone.isCut && tail.readLimit === undefined;
  if (mayBeTaken && hasTakenAll(ledger, gone.since, gone.since + tail.rotateWait)) return false;
  const isRefused = isRefusing(ledger) && look.at <= readUntil(gone, tail, gone.isOpen) + TOLD_AFTER;
  return gone.isHeldBack || (gone.rest > 0 && (isRefused || isHeldUpSince(gone, look, tail)));
}

/** What is appended to a renamed file is read for rotate_wait; below a limit in_tail closes it when it has read it (in_tail.rb:672-684). */
function readUntil(
  { since, rest }: Gone,
  { rotateWait, readLimit }: Limits['tail'],
  isOpen: boolean | undefined,
): Millis {
  const end = since + rotateWait + IN_TAIL_TICK;
  if (readLimit === undefined || isOpen === false) return end;
  if (isOpen === true) return Number.POSITIVE_INFINITY;
  return end + timeToRead(rest, readLimit);
}

/** What came after it at its path has not moved once: the buffer may have been full already. */
function isHeldUpSince(gone: Gone, { at, files, entries }: Look, tail: Limits['tail']): boolean {
  const mayTell = tail.mayRefuse && tail.readLimit === undefined;
  if (!mayTell || at - gone.since > SUCCESSOR_WATCH) return false;
  const next = files.find(
    (file) => file.path === gone.path && file.posFile === gone.posFile && AT_ITS_PATH.has(file.state),
  );
  const known = next && entries.get(next.key);
  if (known?.leftSince === undefined || !known.heldUp) return false;
  return known.movedAt <= gone.since && known.leftSince - gone.since <= HELD_UP;
}
