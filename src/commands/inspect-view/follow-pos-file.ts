import type { PosFileOverview, UndiscoveredOverview } from '../../core/inspect/overview.ts';
import { STATES } from '../../core/inspect/rows.ts';
import type { FileState } from '../../core/look/file-state.ts';
import { entryKey, entryOf } from '../../core/pos-file/pos-file.ts';
import { whyUnparsable } from '../../core/pos-file/pos-line.ts';
import { printable } from '../../core/text/printable.ts';
import { counted, formatBytes, type Millis } from '../../core/text/units.ts';

/** What one look found of a pos file. */
export interface PosFileLook {
  readonly posFile: PosFileOverview;
  readonly undiscovered: readonly UndiscoveredOverview[];
  /** There are others: with an entry its pos file is named. */
  readonly isOneOfSeveral: boolean;
}

/** A log file as a pos file has it; without an inode as long as it has none of it. */
interface Followed {
  readonly path: string;
  readonly inode: string;
  readonly lag: number | null;
  readonly state: FileState | null;
  /** Why it could not be looked at. */
  readonly error?: string | undefined;
}

const HOLD: Millis = 5_000;
/** How long a file must be something else before it is told; an error, and what takes its time by itself, is told at once. */
const HOLDS: ReadonlyMap<string, Millis> = new Map([
  ['behind', 30_000],
  ...(
    ['caught-up', 'partial-line', 'rotated', 'truncated', 'missing', 'undiscovered', 'unwatched'] as const
  ).map((state) => [state, HOLD] as const),
]);
/** All others are told at once in the first look. */
const HOLDS_AT_FIRST: ReadonlySet<string> = new Set(['behind', 'partial-line']);
/** It is too new to be told. */
const NEW = '';

/** What a pos file was in the look before, and what has changed since. */
export class FollowedPosFile {
  readonly #name: string;
  /** Other states are kept in mind, but not told. */
  readonly #wanted: readonly FileState[];
  #at: Millis = 0;
  #error: string | undefined;
  #unparsable = 0;
  #wasRead = false;
  /** By `entryKey`, what each was said to be: with their paths 50,000 would take 70 MB more. */
  #files = new Map<string, string>();
  /** What it has been since, where that is something else. */
  #pending = new Map<string, { readonly is: string; readonly since: Millis }>();

  constructor(path: string, wanted: readonly FileState[] = STATES) {
    this.#name = printable(path);
    this.#wanted = wanted;
  }

  *changes(look: PosFileLook, at: Millis): Generator<string> {
    this.#at = at;
    const { error, unparsable } = look.posFile;
    if (error !== this.#error)
      yield error === undefined ? `${this.#name} can be read now` : `${this.#name}: ${printable(error)}`;
    this.#error = error;
    // It may just be rewritten: what it held has not gone.
    if (error !== undefined && this.#wasRead) return;
    if (error === undefined) yield* this.#changesOfLines(unparsable);
    const where = look.isOneOfSeveral ? ` (in ${this.#name})` : '';
    for (const change of this.#changesOfFiles(filesOf(look))) yield change + where;
    this.#wasRead = error === undefined;
  }

  *#changesOfLines(unparsable: PosFileOverview['unparsable']): Generator<string> {
    const [first] = unparsable;
    if (unparsable.length !== this.#unparsable)
      yield first === undefined
        ? `${this.#name}: every line can be parsed now`
        : `${this.#name}: ${counted(unparsable.length, 'unparsable line')}, the first is line ${first.line}: ${whyUnparsable(first)}`;
    this.#unparsable = unparsable.length;
  }

  *#changesOfFiles(files: Iterable<Followed>): Generator<string> {
    const before = this.#files;
    const now = new Map<string, string>();
    const pathsBefore = lazily(() => pathsOf(before));
    for (const file of files) {
      const { path } = file;
      const key = entryKey(file);
      if (!before.has(key) && before.get(entryKey({ path, inode: '' })) === 'undiscovered')
        yield `${printable(path)} is discovered`;
      const isKnown = !this.#wasRead || pathsBefore().has(path);
      const was = before.get(key) ?? (isKnown ? 'caught-up' : NEW);
      const is = file.error ?? String(file.state);
      const isHeld = this.#isHeld(key, { was, is });
      now.set(key, isHeld ? is : was);
      if (isHeld && (this.#isWanted(is) || this.#isWanted(was))) yield textOf(file);
    }
    const pathsNow = lazily(() => pathsOf(now));
    for (const [key, was] of before) {
      if (now.has(key)) continue;
      this.#pending.delete(key);
      const entry = entryOf(key);
      if (was !== NEW && this.#isWanted(was) && !pathsNow().has(entry.path))
        yield `${nameOf(entry)} has gone`;
    }
    this.#files = now;
  }

  /** It has been another one for so long that this is worth a line: a log that is written falls behind all the time. */
  #isHeld(key: string, { was, is }: { readonly was: string; readonly is: string }): boolean {
    const pending = this.#pending.get(key);
    if (is === was || pending?.is !== is) this.#pending.delete(key);
    if (is === was) return false;
    const since = pending?.is === is ? pending.since : this.#at;
    const hold = this.#wasRead || HOLDS_AT_FIRST.has(is) ? (HOLDS.get(is) ?? 0) : 0;
    const isHeld = this.#at - since >= hold;
    if (isHeld) this.#pending.delete(key);
    else this.#pending.set(key, { is, since });
    return isHeld;
  }

  /** An error is no state, and always wanted. */
  #isWanted(state: string): boolean {
    return !STATES.some((other) => other === state) || this.#wanted.some((other) => other === state);
  }
}

function* filesOf({ posFile, undiscovered }: PosFileLook): Generator<Followed> {
  const { entries, troubles } = posFile;
  const errors = new Map(troubles.map(({ path, error }) => [path, error]));
  for (const row of entries.order()) {
    const { path, inode, lag, state } = entries.at(row);
    yield { path, inode, lag, state, error: errors.get(path) };
  }
  for (const { path, size } of undiscovered) yield { path, inode: '', lag: size, state: 'undiscovered' };
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function pathsOf(files: ReadonlyMap<string, string>): ReadonlySet<string> {
  return new Set([...files.keys()].map((key) => entryOf(key).path));
}

/** `/a.log is behind, 4 B left`. */
export function textOf({ path, lag, state, error }: Omit<Followed, 'inode'>): string {
  const name = printable(path);
  if (error !== undefined) return `cannot look at ${name}: ${printable(error)}`;
  return `${name} is ${state}, ${lag === null ? 'lag unknown' : `${formatBytes(lag)} left`}`;
}

function nameOf({ path, inode }: Pick<Followed, 'path' | 'inode'>): string {
  return printable(path) + (inode === '' ? '' : ` (inode ${inode})`);
}
