import type { Millis } from '../../src/core/text/units.ts';
import type { Clock } from './clock.ts';
import { LINE_BYTES } from './lines.ts';
import { isFollowed, type LogFile, type LogFiles, sizeOf } from './log-files.ts';
import type { Settings } from './plan.ts';
import type { PosFile } from './pos-file.ts';
import type { Random } from './random.ts';
import { FRESH, type Watcher } from './watcher.ts';

/** in_tail looks at each file this often, events or not (in_tail.rb:490). */
const TICK: Millis = 1_000;
/** SHUTDOWN_TIMEOUT (in_tail.rb:1129). */
const LAST_READ: Millis = 5_000;

export interface TailWorld {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly logs: LogFiles;
  readonly posFile: PosFile;
  readonly random: Random;
  /** Fluentd will never read the rest of this file. */
  abandon(file: LogFile, read: number): void;
  /** It has an entry from now on. */
  found(file: LogFile): void;
  /** It has turned to the next file of a path, or found it. */
  turned(path: string): void;
}

/** One in_tail source of a worker, as it is read in in_tail.rb and position_file.rb. */
export class Tail {
  readonly #world: TailWorld;
  readonly #take: (ids: readonly number[]) => boolean;
  readonly #watchers = new Map<string, Watcher>();
  /** Of files that are gone from their path, until rotate_wait is over. */
  readonly #rotated = new Set<Watcher>();
  #isOver = false;

  constructor(world: TailWorld, take: (ids: readonly number[]) => boolean) {
    this.#world = world;
    this.#take = take;
    const { posFile, logs } = world;
    // At start it drops what is unwatched, and what has no file any more (position_file.rb:133).
    posFile.compact(({ path }) => logs.byPath.has(path));
    this.#refresh();
  }

  /** The kernel tells of a change. */
  notice(path: string): void {
    const { clock, random, settings } = this.#world;
    if (settings.lostEvents > 0 && random.chance(settings.lostEvents)) return;
    const watcher = this.#watchers.get(path);
    if (watcher !== undefined) clock.in(random.between(0, 5), () => this.#look(watcher));
  }

  /** Reads to the end of what it follows, for 5 s at most; answers how long that takes. */
  shutDown(): Millis {
    this.#isOver = true;
    const { settings } = this.#world;
    const batches = Math.floor(LAST_READ / settings.batchTakes);
    let left = settings.readLimit > 0 ? settings.readLimit : batches * settings.batch;
    let lines = 0;
    for (const watcher of this.#all()) {
      const read = this.#readAtOnce(watcher, left);
      left -= read;
      lines += read;
    }
    this.die();
    return Math.ceil(lines / settings.batch) * settings.batchTakes;
  }

  die(): void {
    this.#isOver = true;
    for (const { file, read } of this.#all()) this.#world.abandon(file, read);
    this.#watchers.clear();
    this.#rotated.clear();
  }

  /** How many lines of the file at this path it takes for read, and when it last read some. */
  readOf(path: string): { readonly read: number; readonly movedAt: Millis } {
    return this.#watchers.get(path) ?? { read: 0, movedAt: 0 };
  }

  /** Whether it still has this file open. */
  holds(inode: string): LogFile | undefined {
    return this.#all().find(({ file }) => file.inode === inode)?.file;
  }

  /** Files that are not at their path any more. */
  away(): readonly Pick<Watcher, 'path' | 'file' | 'read'>[] {
    return this.#all().filter(({ path, file }) => this.#world.logs.byPath.get(path) !== file);
  }

  /** Lines that it will still read. */
  ahead(): readonly number[] {
    return this.#all().flatMap(({ file, read }) => file.lines.slice(read));
  }

  #all(): readonly Watcher[] {
    return [...this.#watchers.values(), ...this.#rotated];
  }

  #refresh(): void {
    if (this.#isOver) return;
    const { clock, logs, settings } = this.#world;
    for (const [path, watcher] of this.#watchers)
      if (!logs.byPath.has(path)) {
        this.#watchers.delete(path);
        this.#rotated.add(watcher);
        this.#closeLater(watcher, true);
      }
    for (const [path, file] of logs.byPath)
      if (isFollowed(path) && !this.#watchers.has(path)) this.#follow(path, file);
    clock.in(settings.refreshInterval, () => this.#refresh());
  }

  #follow(path: string, file: LogFile): void {
    const { posFile, clock } = this.#world;
    const known = posFile.find(path);
    const isSame = known !== undefined && known.inode === file.inode;
    const line = known ?? posFile.add(path);
    const position = isSame && (line.position ?? 0) <= sizeOf(file) ? (line.position ?? 0) : 0;
    const watcher = { path, file, line, inMemory: false, read: position / LINE_BYTES, ...FRESH() };
    this.#watchers.set(path, watcher);
    this.#world.found(file);
    this.#world.turned(path);
    // A new entry has inode 0 until the file is opened (position_file.rb:47).
    clock.in(isSame ? 0 : 1, () => {
      if (this.#isOver || watcher.inMemory || this.#watchers.get(path) !== watcher) return;
      posFile.update(line, position, file.inode);
      this.#look(watcher);
      this.#tick(watcher);
    });
  }

  #tick(watcher: Watcher): void {
    this.#world.clock.in(TICK, () => {
      if (this.#isOver || !this.#isOpen(watcher)) return;
      this.#look(watcher);
      this.#tick(watcher);
    });
  }

  /** on_notify: first what has become of the path, then the lines (in_tail.rb:1359). */
  #look(watcher: Watcher): void {
    if (this.#isOver || !this.#isOpen(watcher)) return;
    const { logs, posFile } = this.#world;
    if (!this.#rotated.has(watcher)) {
      const now = logs.byPath.get(watcher.path);
      if (now !== undefined && now !== watcher.file) {
        this.#rotate(watcher, now);
        return;
      }
      if (now === undefined && !watcher.inMemory) {
        this.#readAtOnce(watcher, Number.POSITIVE_INFINITY);
        watcher.inMemory = true;
      }
    }
    const size = sizeOf(watcher.file);
    if (size < watcher.size) {
      watcher.file.isCutNoticed = true;
      watcher.read = 0;
      if (!watcher.inMemory) posFile.update(watcher.line, 0);
    }
    watcher.size = size;
    this.#pump(watcher);
  }

  /** Another file stands at the path: the rest of the old one is read from memory, its line goes to the new one. */
  #rotate(old: Watcher, file: LogFile): void {
    const { posFile } = this.#world;
    this.#readAtOnce(old, Number.POSITIVE_INFINITY);
    old.inMemory = true;
    this.#rotated.add(old);
    this.#closeLater(old, false);
    const fresh = { path: old.path, file, line: old.line, inMemory: false, read: 0, ...FRESH() };
    this.#watchers.set(old.path, fresh);
    this.#world.found(file);
    this.#world.turned(old.path);
    posFile.update(old.line, 0, file.inode);
    this.#look(fresh);
    this.#tick(fresh);
  }

  /** After rotate_wait it lets go; a throttled one is read to its end first (in_tail.rb:672-684). */
  #closeLater(watcher: Watcher, isUnwatched: boolean): void {
    const { clock, settings, posFile } = this.#world;
    const close = () => {
      if (this.#isOver || !this.#rotated.has(watcher)) return;
      if (settings.readLimit > 0 && watcher.read < watcher.file.lines.length) {
        this.#pump(watcher);
        return clock.in(TICK, close);
      }
      this.#readAtOnce(watcher, Number.POSITIVE_INFINITY);
      this.#rotated.delete(watcher);
      this.#world.abandon(watcher.file, watcher.read);
      const isMine = watcher.line.inode === watcher.file.inode && watcher.line.position !== null;
      if (isUnwatched && isMine) posFile.update(watcher.line, null);
    };
    clock.in(settings.rotateWait, close);
  }

  #isOpen(watcher: Watcher): boolean {
    return this.#rotated.has(watcher) || this.#watchers.get(watcher.path) === watcher;
  }

  /** One batch after the other, as long as there is something and the buffer takes it. */
  #pump(watcher: Watcher): void {
    const { clock, settings } = this.#world;
    if (watcher.isBusy || this.#isOver || !this.#isOpen(watcher)) return;
    if (this.#readBatch(watcher, this.#allowed(watcher)) === 0) return;
    if (watcher.read >= watcher.file.lines.length) return;
    watcher.isBusy = true;
    clock.in(settings.batchTakes, () => {
      watcher.isBusy = false;
      this.#pump(watcher);
    });
  }

  #readAtOnce(watcher: Watcher, most: number): number {
    let left = this.#world.settings.readLimit > 0 ? Math.min(most, this.#allowed(watcher)) : most;
    const before = watcher.read;
    for (let read = -1; read !== 0 && left > 0; left -= read) read = this.#readBatch(watcher, left);
    return watcher.read - before;
  }

  #allowed({ second }: Watcher): number {
    const { clock, settings } = this.#world;
    if (settings.readLimit === 0) return Number.POSITIVE_INFINITY;
    if (clock.now - second.at >= 1_000) Object.assign(second, { at: clock.now, lines: 0 });
    return settings.readLimit - second.lines;
  }

  /** The position moves when the buffer has taken the lines (in_tail.rb:1269). */
  #readBatch(watcher: Watcher, most: number): number {
    const { settings, posFile } = this.#world;
    const { file, line, read } = watcher;
    const ids = file.lines.slice(read, read + Math.min(settings.batch, most));
    if (ids.length === 0 || !this.#take(ids)) return 0;
    watcher.read += ids.length;
    watcher.movedAt = this.#world.clock.now;
    watcher.second.lines += ids.length;
    if (!watcher.inMemory) posFile.update(line, watcher.read * LINE_BYTES);
    return ids.length;
  }
}
