import { type Born, isAnotherBirth } from '../look/file-times.ts';
import { entryKey } from '../pos-file/pos-file.ts';
import { counted, formatBytes, type Millis } from '../text/units.ts';
import { AT_ITS_PATH, foundUnseen, HELD_UP, inodesByPath, type Look, restOf } from './gone-now.ts';
import type { Abandoned, Awaited, KnownEntry, Limits, Memory, ObservedFile } from './observation.ts';
import { isRefusing } from './output-ledger.ts';

type Entries = Memory['entries'];

/** A renamed file shows its own size; one that is nowhere, or was let go, the last that it had, also before in_tail found it. */
export function wholeOf(
  { state, size, inode }: ObservedFile,
  known: KnownEntry | undefined,
  awaited: Memory['awaited'],
): number | null {
  return (state === 'unwatched' ? null : size) ?? known?.whole ?? awaited.get(inode)?.size ?? null;
}

/** Away from its path it stays what it was until then. */
export function isHeldUp(
  { state, movedAt }: ObservedFile,
  known: Pick<KnownEntry, 'leftSince' | 'heldUp'> | undefined,
  leftSince: Millis | undefined,
  at: Millis,
): boolean {
  const isHere = AT_ITS_PATH.has(state);
  const since = isHere ? leftSince : known?.leftSince;
  return since === undefined ? known?.heldUp === true && !isHere : at - Math.max(movedAt, since) >= HELD_UP;
}

/** The files that are seen in this look to have gone away unread, by path and inode. */
export function abandonedNow(
  memory: Memory,
  look: Look,
  { tail }: Limits,
): readonly (readonly [string, Abandoned])[] {
  const { entries, files, followed, opened: open, isReaderGone } = look;
  const dropped = files.flatMap((file) => [...cutShort(file, memory, tail), ...overwritten(file, memory)]);
  const isUnknown = followed.some(({ unknown }) => unknown !== undefined);
  if (memory.awaited.size === 0 || isUnknown) return dropped;
  const sizes = new Map(followed.flatMap((source) => source.files.map(({ inode, size }) => [inode, size])));
  const opened = openedIn(entries, memory.gone);
  const inodeAt = inodesByPath(files);
  // A full buffer may have kept in_tail from reading what it has open.
  const holdsUp = tail.mayRefuse && isRefusing(memory.ledger);
  const world = {
    sizeOf: (inode: string) => sizes.get(inode),
    isOpened: (inode: string) =>
      isOpened(opened, inode, memory.awaited.get(inode)) || (!holdsUp && open?.has(inode) === true),
    inodeAt: (path: string) => inodeAt.get(path),
  };
  // A worker that came just now, or was still starting, has not turned to it from another one.
  const orAtOnce = isReaderGone ? { before: undefined } : {};
  const mayBeFound = foundUnseen(look);
  const unfound = [...memory.awaited]
    .filter(([inode, file]) => !mayBeFound(inode, file) && isUnfound(inode, { ...file, ...orAtOnce }, world))
    .map(([inode, { path, size }]) => [entryKey({ path, inode }), { path, bytes: size }] as const);
  return [...dropped, ...unfound];
}

/** The files as a look finds them. */
interface Found {
  /** Of a file that in_tail is still to read. */
  sizeOf(inode: string): number | undefined;
  isOpened(inode: string): boolean;
  /** The inode in the entry of a path. */
  inodeAt(path: string): string | undefined;
}

/** A file that in_tail was to find went away. Where its path has an entry with another inode by now, in_tail may have read it between two looks. */
export function isUnfound(
  inode: string,
  { path, size, before }: Omit<Awaited, 'posFile'>,
  found: Found,
): boolean {
  const isAway = (found.sizeOf(inode) ?? 0) < size && !found.isOpened(inode);
  const now = found.inodeAt(path);
  return isAway && (before === undefined || now === undefined || now === before);
}

/**
 * What was unread when a file was truncated is gone. Where in_tail has noticed and begun anew, it may have read the rest just before,
 * unless it was held up or a limit slows it down. Of a file that it had not begun, no position tells whether it has begun it anew.
 */
function cutShort(
  file: ObservedFile,
  memory: Memory,
  { readLimit }: Limits['tail'],
): readonly (readonly [string, Abandoned])[] {
  const { path, inode, position, size, state } = file;
  const known = memory.entries.get(file.key);
  const { whole = null, reached = null } = known ?? {};
  if (whole === null || position === null || size === null || size >= whole || !AT_ITS_PATH.has(state))
    return [];
  const mayHaveBegunAnew = reached === 0 || position < (reached ?? 0);
  if (mayHaveBegunAnew && known?.heldUp !== true && readLimit === undefined) return [];
  const bytes = restOf({ whole, reached: Math.max(position, reached ?? 0) });
  return bytes > 0 ? [[entryKey({ path, inode }), { path, bytes }]] : [];
}

/** in_tail has not noticed that a file was truncated, and reads on behind what was written since. */
function overwritten(
  { key, path, inode, position, size, state }: ObservedFile,
  { entries }: Memory,
): readonly (readonly [string, Abandoned])[] {
  const known = entries.get(key);
  if (known?.state !== 'truncated' || position === null || size === null || !AT_ITS_PATH.has(state))
    return [];
  const isUnnoticed = position === known.position && size > position;
  return isUnnoticed ? [[`${entryKey({ path, inode })}\toverwritten`, { path, bytes: position }]] : [];
}

/** The files that wait for in_tail to find them, or to turn from another one that had their path. */
export function awaitedIn(
  { awaited, gone }: Memory,
  { at, followed, entries, files, isReaderGone }: Look,
): ReadonlyMap<string, Awaited> {
  const opened = openedIn(entries, gone);
  const inodeAt = inodesByPath(files);
  const waiting = new Map<string, Awaited>();
  for (const { posFile, byInode, files: found } of followed)
    for (const { path, inode, size, born: made } of found) {
      // By inode in_tail itself takes a later file for the one that it knows.
      const born = byInode ? undefined : made;
      if (size === 0 || isOpened(opened, inode, { born })) continue;
      const known = awaited.get(inode);
      // By inode each file has an entry of its own, and keeps it.
      const before = byInode || isReaderGone ? undefined : inodeAt.get(path);
      waiting.set(inode, {
        posFile,
        path,
        size,
        born,
        before: known === undefined || isReaderGone ? before : known.before,
        since: known?.since ?? at,
      });
    }
  return waiting;
}

type Opened = ReadonlyMap<string, Born>;

/** The files that Fluentd has, or had, an entry for, by inode: the one that was made last. */
function openedIn(entries: Entries, gone: Memory['gone']): Opened {
  const opened = new Map<string, Born>();
  for (const file of [...gone.values(), ...entries.values()]) {
    const known = opened.get(file.inode)?.born ?? 0;
    if (known <= (file.born ?? known)) opened.set(file.inode, file);
  }
  return opened;
}

function isOpened(opened: Opened, inode: string, file: Born = {}): boolean {
  const known = opened.get(inode);
  return known !== undefined && isAnotherBirth(known, file) !== true;
}

/** So many are told one by one. */
const MOST_TOLD = 10_000;
const FURTHER = 'further files';

/** A main may make and remove files without end: beyond so many they are one sum. What may still be found again stays by itself. */
export function summedUp(
  abandoned: Map<string, Abandoned>,
  gone: Pick<Memory['gone'], 'has'>,
): ReadonlyMap<string, Abandoned> {
  const surplus = [...abandoned].slice(MOST_TOLD).filter(([key]) => !gone.has(key));
  const [, first] = surplus[0] ?? [];
  if (first === undefined) return abandoned;
  for (const [key] of surplus) abandoned.delete(key);
  const files = surplus.map(([, file]) => file);
  return abandoned.set(FURTHER, { path: first.path, bytes: bytesOf(files), files: countOf(files) });
}

function bytesOf(files: readonly Abandoned[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function countOf(files: readonly Abandoned[]): number {
  return files.reduce((sum, { files: further = 1 }) => sum + further, 0);
}

export function describeAbandoned(files: readonly Abandoned[]): string {
  const bytes = bytesOf(files);
  const [first] = files;
  const how = first?.unproven ? 'went away, perhaps' : 'went away';
  return `${counted(countOf(files), 'file')} ${how} unread, ${formatBytes(bytes)}, first ${first?.path}`;
}
