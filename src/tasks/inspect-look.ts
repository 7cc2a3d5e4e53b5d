import type { History } from '../core/inspect/history.ts';
import {
  type Overview,
  overview,
  type PosFileOverview,
  type Successor,
  type Trouble,
  undiscoveredFiles,
} from '../core/inspect/overview.ts';
import { InspectedRows, judge, NO_PAST } from '../core/inspect/rows.ts';
import type { FileLook, FollowedReading } from '../core/look/snapshot.ts';
import { isBare, unlistedIn } from '../core/look/undiscovered.ts';
import { type EntryRow, EntryRows } from '../core/pos-file/entry-rows.ts';
import { entryKey } from '../core/pos-file/pos-file.ts';
import { printable } from '../core/text/printable.ts';
import { counted, formatBytes, type Millis } from '../core/text/units.ts';
import { readBuffers } from '../daemon/read-buffers.ts';
import type { Host, SearchProgress } from '../host.ts';
import { BelowRoot } from '../node/files/below-root.ts';
import type { PosBytes } from '../node/files/pos-bytes.ts';
import type { InspectSubject } from './inspect-subject.ts';

/** Where no look follows, this one searches for longer. */
const SEARCH_AT_MOST = 1024 ** 3;

/** How far a look is, is told once in so many rows. */
const TELL_EVERY = 128;

/** At this size, some 200,000 lines, a look takes about a second, and parsing it cannot be interrupted. */
const LARGE = 16 * 1024 * 1024;

/** `isLong`: nothing else will be told for a while. */
type Tell = (text: () => string, isLong?: boolean) => void;

/** What an inspector asks of the outside world. */
type World = Pick<Host, 'lookAt' | 'listChunks' | 'get' | 'now'>;

/** Looks at what is to be inspected, once or again and again. */
export class Inspector {
  readonly #host: World;
  readonly #subject: InspectSubject;
  readonly #history: History | undefined;
  #onProgress: Tell = () => {};

  constructor(host: World, subject: InspectSubject, history?: History) {
    this.#host = host;
    this.#subject = subject;
    this.#history = history;
  }

  /** Is told how far a look is. */
  set onProgress(tell: Tell) {
    this.#onProgress = tell;
  }

  /** Positions first, sizes after: as in daemon/collect.ts. */
  async look(): Promise<Overview> {
    this.#history?.begin(this.#host.now());
    const posFiles: PosFileOverview[] = [];
    for (const { name, place } of await this.#subject.posFiles())
      posFiles.push(await this.#lookAtPosFile(name, place));
    const found = posFiles.filter(({ error, empty }) => error === undefined || empty);
    const followed = this.#subject.raw ? [] : await this.#subject.followed();
    return overview({
      posFiles: posFiles.map((posFile) => believed(posFile, followed)),
      undiscovered: undiscoveredFiles(followed, found),
      unlisted: unlistedIn(followed),
      buffers: await this.#buffers(),
    });
  }

  async #buffers(): Promise<Overview['buffers']> {
    const { conf, raw } = this.#subject;
    // From files alone: no monitor_agent is asked.
    return raw || conf === undefined
      ? undefined
      : readBuffers(this.#host, { ...conf, monitorAgents: [] }, 'files');
  }

  async #lookAtPosFile(path: string, place: string): Promise<PosFileOverview> {
    try {
      const content = await this.#subject.read(place);
      if (content === undefined) return without(path, 'there is no such file');
      if (content.bytes.length > 0) return await this.#lookAtEntries(path, content);
      // A FIFO that nobody writes to, a command that failed in front of `inspect -`: no word of Fluentd's.
      if (content.writtenAgo === null) return without(path, 'nothing came through it');
      const why = 'it is empty: Fluentd has found no log file yet, or is just rewriting it';
      return { ...without(path, why), age: content.writtenAgo, empty: true };
    } catch (error) {
      return without(path, (error as Error).message);
    }
  }

  async #lookAtEntries(path: string, { bytes, writtenAgo }: PosBytes): Promise<PosFileOverview> {
    if (bytes.length >= LARGE)
      this.#onProgress(() => `reading ${formatBytes(bytes.length)}: ${printable(path)}`, true);
    const rows = new EntryRows(bytes);
    const entries = new InspectedRows(rows);
    const troubles: Trouble[] = [];
    const successors: Successor[] = [];
    if (this.#subject.raw) for (let row = 0; row < rows.count; row += 1) entries.show(row);
    else await this.#lookAtRows({ path, entries, troubles, successors, posFileAge: writtenAgo });
    const error = errorOf(rows);
    return {
      path,
      entries,
      unparsable: rows.unparsable,
      age: writtenAgo,
      ...(error !== undefined && { error }),
      empty: false,
      troubles,
      successors,
    };
  }

  async #lookAtRows(task: RowsTask): Promise<void> {
    const { rows } = task.entries;
    const { root } = this.#subject;
    const below = root === undefined ? undefined : new BelowRoot(root);
    const found = (entry: EntryRow, look: FileLook) => {
      this.#take(entry, look, task);
      if (entry.row % TELL_EVERY !== 0) return;
      const text = () =>
        `looked at ${entry.row} of ${rows.count} files (${percentOf(entry.row, rows.count)})`;
      this.#onProgress(text);
    };
    await this.#host.lookAt(rows.latest(), found, {
      ...(below && { placeOf: (path) => below.resolve(path) }),
      ...(this.#history === undefined && { searchAtMost: SEARCH_AT_MOST }),
      onSearch: (progress) => this.#onProgress(() => textOf(progress)),
    });
  }

  #take(
    entry: EntryRow,
    look: FileLook,
    { path, entries, troubles, successors, posFileAge }: RowsTask,
  ): void {
    const { rows } = entries;
    const { row } = entry;
    const isOnDisk = look.atPath?.inode === entry.inode || look.renamed !== undefined;
    // As `livingEntries`: an older line of a path counts only while its file exists.
    if (!isOnDisk && !rows.isLast(row)) return;
    if (look.error !== undefined) troubles.push({ path: entry.path, error: look.error });
    const inode = look.atPath?.inode;
    const succeeded = inode !== undefined && inode !== entry.inode && rows.hasInode(row, inode);
    const key = this.#history && `${path}\t${entryKey(entry)}`;
    const past = key === undefined ? NO_PAST : (this.#history?.past(key, entry) ?? NO_PAST);
    const judgement = judge(entry, look, { past, succeeded, posFileAge });
    if (key !== undefined) this.#history?.remember(key, entry, judgement);
    entries.show(row, judgement);
    if (judgement.state === 'rotated' && !succeeded && look.atPath !== undefined && look.atPath.size > 0)
      successors.push({ path: entry.path, size: look.atPath.size });
  }
}

interface RowsTask {
  readonly path: string;
  readonly entries: InspectedRows;
  readonly troubles: Trouble[];
  readonly successors: Successor[];
  readonly posFileAge: Millis | null;
}

function textOf({ path, searched, left }: SearchProgress): string {
  return `searched ${formatBytes(searched)} of ${formatBytes(left)} for a newline: ${printable(path)}`;
}

function percentOf(done: number, total: number): string {
  return `${Math.floor((done / total) * 100)}%`;
}

function without(path: string, error: string): PosFileOverview {
  const entries = new InspectedRows(new EntryRows(new Uint8Array()));
  return { path, entries, unparsable: [], age: null, error, empty: false, troubles: [], successors: [] };
}

/** As doubt.ts: an empty pos file is no riddle where no source of it has anything to read. */
function believed(posFile: PosFileOverview, followed: readonly FollowedReading[]): PosFileOverview {
  const sources = followed.filter((source) => source.posFile === posFile.path);
  if (!posFile.empty || sources.length === 0) return posFile;
  if (!sources.every(isBare)) return posFile;
  const { error: _, ...rest } = posFile;
  return rest;
}

function errorOf({ count, unparsable }: EntryRows): string | undefined {
  if (count > 0) return undefined;
  const whole = unparsable.filter(({ torn }) => !torn).length;
  if (whole === 0) return 'it is no pos file: it holds no whole line';
  return `it is no pos file: ${counted(whole, 'line')}, none of path, position and inode`;
}
