import { ageOf, CONFIRM_AFTER, isInDoubt, memoryByAges } from '../core/inspect/ages.ts';
import type { History } from '../core/inspect/history.ts';
import {
  type Overview,
  overview,
  type PosFileOverview,
  type Trouble,
  type UndiscoveredOverview,
  undiscoveredFiles,
} from '../core/inspect/overview.ts';
import { diagnose } from '../core/inspect/pos-file-diagnosis.ts';
import { InspectedRows } from '../core/inspect/rows.ts';
import { verdictOfFile, verdictsOf } from '../core/inspect/verdict.ts';
import type { FileLook, FollowedReading } from '../core/look/snapshot.ts';
import { hasNothingToFollow, unlistedIn } from '../core/look/undiscovered.ts';
import { judge } from '../core/observe/judge-entry.ts';
import { type EntryRow, EntryRows } from '../core/pos-file/entry-rows.ts';
import { entryKeyIn, type PositionEntry } from '../core/pos-file/pos-file.ts';
import { printable } from '../core/text/printable.ts';
import { counted, formatBytes } from '../core/text/units.ts';
import { readBuffers } from '../daemon/read-buffers.ts';
import type { Host, SearchProgress } from '../host.ts';
import type { PosBytes } from '../node/files/pos-bytes.ts';
import { type InspectSubject, STDIN } from './inspect-subject.ts';

/** Where no look follows, this one searches for longer. */
const SEARCH_AT_MOST = 1024 ** 3;

/** How far a look is, is told once in so many rows. */
const TELL_EVERY = 128;

/** At this size, some 200,000 lines, a look takes about a second, and parsing it cannot be interrupted. */
const LARGE = 16 * 1024 * 1024;

/** `isLong`: nothing else will be told for a while. */
type Tell = (text: () => string, isLong?: boolean) => void;

type PosFileView<Entry extends PositionEntry> = Parameters<typeof judge<Entry>>[3];

type When = Pick<PosFileView<EntryRow>, 'at' | 'before'>;

/** What an inspector asks of the outside world. */
type World = Pick<Host, 'lookAt' | 'listChunks' | 'listBackups' | 'now' | 'sleep'>;

/** Looks at what is to be inspected, once or again and again. */
export class Inspector {
  readonly #host: World;
  readonly #subject: InspectSubject;
  readonly #history: History | undefined;
  /** The positions of which one look cannot tell whether they stand still, by `entryKeyIn`. */
  #doubted = new Map<string, number | null>();
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

  /** Where no look follows, and one cannot tell whether in_tail stands still, a second one can. */
  async look(): Promise<Overview> {
    const found = await this.#look();
    const isReadOnce = found.posFiles.some(({ path }) => path === STDIN);
    if (this.#history !== undefined || this.#doubted.size === 0 || isReadOnce) return found;
    await this.#host.sleep(this.#host.now() + CONFIRM_AFTER);
    return this.#look();
  }

  /** Positions first, sizes after: as in daemon/collect.ts. */
  async #look(): Promise<Overview> {
    const at = Math.round(this.#host.now());
    const when = { at, before: this.#history?.begin(at) };
    const posFiles: PosFileOverview[] = [];
    for (const { name, place } of await this.#subject.posFiles())
      posFiles.push(await this.#lookAtPosFile(name, place, when));
    const found = posFiles.filter(({ error, empty }) => error === undefined || empty);
    const followed = this.#subject.raw ? [] : await this.#subject.followed();
    const all = overview({
      posFiles: posFiles.map((posFile) => this.#diagnosed(believed(posFile, followed), followed)),
      undiscovered: undiscoveredFiles(followed, found),
      unlisted: unlistedIn(followed),
      buffers: await this.#buffers(),
    });
    const history = this.#history;
    if (history === undefined) return all;
    history.end(all.undiscovered, at);
    const seen = { ...all, late: history.late };
    const ofFile: Overview['verdictOf'] = (file) => verdictOfFile(file, history);
    return { ...seen, ...verdictsOf(seen, history), verdictOf: ofFile };
  }

  /** Once: a pos file does not change its kind from look to look. */
  #diagnosed(posFile: PosFileOverview, followed: readonly FollowedReading[]): PosFileOverview {
    if (this.#history !== undefined || posFile.error !== undefined) return posFile;
    const byInode = followed.find((source) => source.posFile === posFile.path)?.byInode;
    return { ...posFile, findings: diagnose(posFile.entries, byInode) };
  }

  async #buffers(): Promise<Overview['buffers']> {
    const { conf, raw } = this.#subject;
    return raw || conf === undefined ? undefined : readBuffers(this.#host, { conf });
  }

  async #lookAtPosFile(path: string, place: string, when: When): Promise<PosFileOverview> {
    try {
      const content = await this.#subject.read(place);
      if (content === undefined) return without(path, 'there is no such file');
      if (content.bytes.length > 0) return await this.#lookAtEntries(path, content, when);
      // A FIFO that nobody writes to, a command that failed in front of `inspect -`: no word of Fluentd's.
      if (content.writtenAgo === null) return without(path, 'nothing came through it');
      const why = 'it is empty: Fluentd has found no log file yet, or is just rewriting it';
      return { ...without(path, why), age: content.writtenAgo, empty: true };
    } catch (error) {
      return without(path, (error as Error).message);
    }
  }

  async #lookAtEntries(path: string, { bytes, writtenAgo }: PosBytes, when: When): Promise<PosFileOverview> {
    if (bytes.length >= LARGE)
      this.#onProgress(() => `reading ${formatBytes(bytes.length)}: ${printable(path)}`, true);
    const rows = new EntryRows(bytes);
    const entries = new InspectedRows(rows);
    const error = errorOf(rows);
    const posFile: Found = {
      path,
      entries,
      unparsable: rows.unparsable,
      age: writtenAgo,
      ...(error !== undefined && { error }),
      empty: false,
      troubles: [],
      successors: [],
    };
    if (this.#subject.raw) for (let row = 0; row < rows.count; row += 1) entries.record(row);
    else await this.#lookAtRows(posFile, when);
    return posFile;
  }

  async #lookAtRows(found: Found, when: When): Promise<void> {
    const { path, age } = found;
    const { rows } = found.entries;
    const posFile: PosFileView<EntryRow> = {
      ...when,
      path,
      writtenAgo: age ?? 0,
      keyOf: (entry) => entryKeyIn(path, entry),
      isLast: ({ row }) => rows.isLast(row),
      hasInode: ({ row }, inode) => rows.hasInode(row, inode),
    };
    const take = (entry: EntryRow, look: FileLook) => {
      this.#take(entry, look, found, posFile);
      if (entry.row % TELL_EVERY === 0) this.#onProgress(() => lookedAt(entry.row, rows.count));
    };
    await this.#host.lookAt(rows.latest(), take, {
      ...(this.#history === undefined && { searchAtMost: SEARCH_AT_MOST }),
      onSearch: (progress) => this.#onProgress(() => textOf(progress)),
    });
  }

  #take(entry: EntryRow, look: FileLook, found: Found, posFile: PosFileView<EntryRow>): void {
    const followed = this.#history?.of(posFile.path, entry);
    const wasLeft =
      this.#doubted.size > 0 && this.#doubted.get(entryKeyIn(posFile.path, entry)) === entry.position;
    const known = followed?.memory ?? memoryByAges(entry, look, posFile, wasLeft);
    const file = judge(entry, look, known, posFile);
    if (file === undefined) return;
    if (followed === undefined && isInDoubt(file, posFile.writtenAgo))
      this.#doubted.set(file.key, entry.position);
    if (followed !== undefined) this.#history?.take(followed, file, known, posFile.at);
    const movedAt = followed?.movedAt ?? null;
    const age = movedAt === null ? ageOf(file, look, found.age) : posFile.at - movedAt;
    found.entries.record(entry.row, file, age);
    const { path } = entry;
    const { atPath, error } = look;
    if (error !== undefined) found.troubles.push({ path, error });
    const hasSuccessor = file.state === 'rotated' && !posFile.hasInode(entry, atPath?.inode ?? entry.inode);
    if (hasSuccessor && atPath !== undefined && atPath.size > 0)
      found.successors.push({
        ...SUCCESSOR,
        posFile: posFile.path,
        path,
        inode: atPath.inode,
        size: atPath.size,
      });
  }
}

/** in_tail looks at the paths of its entries each second. */
const SUCCESSOR = { refreshInterval: 0 };

/** What is being found of a pos file. */
interface Found extends PosFileOverview {
  readonly troubles: Trouble[];
  readonly successors: UndiscoveredOverview[];
}

function textOf({ path, searched, left }: SearchProgress): string {
  return `searched ${formatBytes(searched)} of ${formatBytes(left)} for a newline: ${printable(path)}`;
}

function lookedAt(row: number, count: number): string {
  return `looked at ${row} of ${count} files (${Math.floor((row / count) * 100)}%)`;
}

function without(path: string, error: string): PosFileOverview {
  const entries = new InspectedRows(new EntryRows(new Uint8Array()));
  return { path, entries, unparsable: [], age: null, error, empty: false, troubles: [], successors: [] };
}

/** Where there is nothing to follow, an empty pos file is no error. */
function believed(posFile: PosFileOverview, followed: readonly FollowedReading[]): PosFileOverview {
  if (!posFile.empty || !hasNothingToFollow(posFile.path, followed)) return posFile;
  const { error: _, ...rest } = posFile;
  return rest;
}

function errorOf({ count, unparsable }: EntryRows): string | undefined {
  if (count > 0) return undefined;
  const whole = unparsable.filter(({ torn }) => !torn).length;
  if (whole === 0) return 'it is no pos file: it holds no whole line';
  return `it is no pos file: ${counted(whole, 'line')}, none of path, position and inode`;
}
