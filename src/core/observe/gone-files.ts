import { IN_TAIL_TICK, timeToRead } from '../in-tail/pace.ts';
import { isAnotherBirth } from '../look/file-times.ts';
import type { GoneLook } from '../look/snapshot.ts';
import { entryKeyIn } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import { AT_ITS_PATH, goneNow, HELD_UP, type Look, restOf } from './gone-now.ts';
import type { Abandoned, Gone, KnownEntry, Limits, Memory, ObservedFile } from './observation.ts';
import { hasTakenAll, isRefusing } from './output-ledger.ts';

/** How long it is told by the file that came after it whether it was held up. */
const SUCCESSOR_WATCH: Millis = 10_000;
/** What a buffer refuses shows in its counters, which are looked at so soon after a movement. */
const TOLD_AFTER: Millis = 2_000;
/** So many are watched: a hostile pos file may have let go of a million. */
const MOST_WATCHED = 1_000;

/** The files that went away from their paths so far: what is left of them, and what came too late. */
export function watchGone(memory: Memory, look: Look, { tail }: Limits): Memory['gone'] {
  const gone = new Map<string, Gone>();
  const here = new Map(
    look.files.filter(({ state }) => AT_ITS_PATH.has(state)).map((file) => [file.key, file]),
  );
  for (const [key, file] of memory.gone) {
    const seen = look.gone?.get(key);
    const successor = file.isCut ? undefined : here.get(key);
    const isFollowed = !isAnother(file, seen) && isFoundIn(here, file, seen);
    if (successor === undefined && !isFollowed)
      gone.set(key, update(key, file, { seen, look, memory, tail }));
    // What was lost with the old one stays told.
    else if (lostOf(file) > 0 && isAnother(file, successor))
      gone.set(`${key}\tbefore ${file.since}`, { ...file, isCut: true });
  }
  for (const [key, found] of goneNow(memory, look, tail)) {
    const before = gone.get(key);
    const file = { ...found, lastHere: Math.min(found.since, look.before ?? found.since) };
    gone.set(key, before ? merged(before, file) : file);
  }
  forgetSurplus(gone, (file) => file.isOver || file.isCut || look.at > readUntil(file, tail, file.isOpen));
  return gone;
}

/** Another file has got the inode. Where nobody tells when it was made: a file that went away grows or stays as it is. */
function isAnother(file: Gone, seen: Pick<GoneLook | ObservedFile, 'size' | 'born'> | undefined): boolean {
  if (seen === undefined) return false;
  const isSmaller = typeof seen.size === 'number' && file.size !== null && seen.size < file.size;
  return isAnotherBirth(file, seen) ?? isSmaller;
}

/** in_tail has an entry for it under its new name. */
function isFoundIn(
  here: { has(key: string): boolean },
  { posFile, inode }: Gone,
  seen: GoneLook | undefined,
) {
  return seen?.path !== undefined && here.has(entryKeyIn(posFile, { path: seen.path, inode }));
}

function lostOf({ isLost, isHeldBack, rest, late }: Gone): number {
  return (isLost || isHeldBack ? rest : 0) + late;
}

/** Forgets files of which nothing was lost: first the oldest that in_tail reads no more, then the newest. */
function forgetSurplus(gone: Map<string, Gone>, isDone: (file: Gone) => boolean): void {
  const surplus = gone.size - MOST_WATCHED;
  if (surplus <= 0) return;
  const unharmed = [...gone].filter(([, file]) => lostOf(file) === 0);
  const done = unharmed.filter(([, file]) => isDone(file));
  const read = unharmed.filter(([, file]) => !isDone(file)).toReversed();
  for (const [key] of [...done, ...read].slice(0, surplus)) gone.delete(key);
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
    .filter(([, { isCut, isOver, inode }]) => isCut || isOver || !followedInodes.has(inode))
    .map(([key, file]) => [key, { path: file.path, bytes: lostOf(file) }] as const);
}

/** Where its path got a new file only later, in_tail had closed the old one before. */
function merged(before: Gone, now: Gone): Gone {
  const isLost = before.isLost || now.isLost;
  const isHeldBack = before.isHeldBack || now.isHeldBack;
  return before.isClosed
    ? { ...before, isLost, isHeldBack, hasEntry: now.hasEntry }
    : { ...now, since: Math.max(before.since, now.since), isLost, isHeldBack, late: before.late };
}

function update(key: string, before: Gone, { seen, look, memory, tail }: Update): Gone {
  const isOver = before.isOver || isAnother(before, seen);
  // An inode is free for another file only when nobody has the old one open any more.
  const closed = isOver ? { ...before, isOver, isOpen: false } : before;
  const held = { ...closed, isHeldBack: isHeldBack(closed, { look, memory, tail }) };
  const isReading = look.at <= readUntil(held, tail, seen?.isOpen ?? held.isOpen);
  // A worker that has just come has nothing of it open: what the one before had counts.
  const mayBeUnread = !held.isCut && look.at <= readUntil(held, tail, held.isOpen);
  const isShort = mayBeUnread && !isOver && isCutShort(held, seen, tail);
  // Its entry no longer tells what was left of it.
  const gone = { ...held, hasEntry: held.hasEntry && !isShort };
  const isCutOff = look.isReaderGone || isDropped(gone, look) || isShort;
  const isLost = gone.isLost || (mayBeUnread && isCutOff);
  if (seen === undefined || isOver) return { ...gone, isLost };
  const { size, born = gone.born } = seen;
  // When its process is gone, nobody can look.
  const isOpen = seen.isOpen ?? gone.isOpen;
  if (size === undefined) return { ...gone, isLost, isOpen, isOver: !isReading };
  const added = Math.max(0, size - (gone.size ?? size));
  const own = gone.hasEntry ? entryIn(look, memory, key) : undefined;
  const left = own === undefined ? gone.rest + added : restOf(own);
  if (gone.isClosed) return { ...gone, isLost, isOpen, late: Math.max(gone.late, Math.min(added, left)) };
  return { ...gone, born, isLost, isOpen, size, rest: left, isClosed: !isReading };
}

/** What a look has not found stays remembered as it was. */
function entryIn({ entries, isBelieved }: Look, memory: Memory, key: string): KnownEntry | undefined {
  const entry = entries.get(key);
  return isBelieved && entry === memory.entries.get(key) ? undefined : entry;
}

interface Update {
  readonly seen: GoneLook | undefined;
  readonly look: Look;
  readonly memory: Memory;
  readonly tail: Limits['tail'];
}

/** A new worker has dropped its entry at its start, as its path had no file (position_file.rb:133). */
function isDropped({ hasEntry, path }: Gone, { isBelieved, files }: Look): boolean {
  return hasEntry && isBelieved && !files.some((file) => file.path === path);
}

/** It was truncated while a limit kept in_tail from reading it all. */
function isCutShort(
  { size, isOpen }: Gone,
  seen: GoneLook | undefined,
  { readLimit }: Limits['tail'],
): boolean {
  const now = seen?.size ?? Number.POSITIVE_INFINITY;
  return readLimit !== undefined && isOpen !== false && now < (size ?? 0);
}

/** A full buffer keeps in_tail from reading the rest. Where there is room in time, in_tail reads it at its next tick. */
function isHeldBack(gone: Gone, { look, memory: { ledger }, tail }: Omit<Update, 'seen'>): boolean {
  if (!tail.mayRefuse) return false;
  const mayBeTaken = !gone.isCut && tail.readLimit === undefined;
  if (mayBeTaken && hasTakenAll(ledger, gone.since, gone.lastHere + tail.rotateWait)) return false;
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
