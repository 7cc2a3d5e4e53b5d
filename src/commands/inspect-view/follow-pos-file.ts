import type { PosFileOverview, UndiscoveredOverview } from '../../core/inspect/overview.ts';
import { STATES } from '../../core/inspect/rows.ts';
import type { FileState } from '../../core/look/file-state.ts';
import { entryKey, entryOf } from '../../core/pos-file/pos-file.ts';
import { whyUnparsable } from '../../core/pos-file/pos-line.ts';
import { printable } from '../../core/text/printable.ts';
import { counted, formatBytes } from '../../core/text/units.ts';

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

/** What a pos file was in the look before, and what has changed since. */
export class FollowedPosFile {
  readonly #name: string;
  /** Other states are kept in mind, but not told. */
  readonly #wanted: readonly FileState[];
  #error: string | undefined;
  #unparsable = 0;
  #wasRead = false;
  /** By `entryKey`, what each was: with their paths 50,000 would take 70 MB more. */
  #files = new Map<string, string>();

  constructor(path: string, wanted: readonly FileState[] = STATES) {
    this.#name = printable(path);
    this.#wanted = wanted;
  }

  *changes(look: PosFileLook): Generator<string> {
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
    for (const file of files) {
      const { path } = file;
      const key = entryKey(file);
      const was = before.get(key);
      const is = file.error ?? String(file.state);
      now.set(key, is);
      if (was === undefined && before.delete(entryKey({ path, inode: '' })))
        yield `${printable(path)} is discovered`;
      if (was !== is && this.#isTold(was, is)) yield textOf(file);
    }
    for (const [key, was] of before)
      if (!now.has(key) && this.#isWanted(was)) yield `${nameOf(entryOf(key))} has gone`;
    this.#files = now;
  }

  /** At first only what is not as it should be. */
  #isTold(was: string | undefined, is: string): boolean {
    if (was !== undefined) return this.#isWanted(was) || this.#isWanted(is);
    return this.#isWanted(is) && (this.#wasRead || (is !== 'caught-up' && is !== 'unwatched'));
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

function textOf({ path, lag, state, error }: Followed): string {
  const name = printable(path);
  if (error !== undefined) return `cannot look at ${name}: ${printable(error)}`;
  return `${name} is ${state}, ${lag === null ? 'lag unknown' : `${formatBytes(lag)} left`}`;
}

function nameOf({ path, inode }: Pick<Followed, 'path' | 'inode'>): string {
  return printable(path) + (inode === '' ? '' : ` (inode ${inode})`);
}
