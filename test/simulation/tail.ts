import type { Question } from '../../src/core/progress/question.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { Report } from '../../src/core/witness/answer.ts';
import { isFollowed, LINE_BYTES, type LogFile, sizeOf } from './log-files.ts';
import { type Watcher, watcherOf } from './watcher.ts';
import { type FileHistory, sightOf } from './witness.ts';
import type { World } from './world.ts';

/** in_tail looks at each file this often, events or not (in_tail.rb:490). */
const TICK: Millis = 1_000;
/** in_tail's event loop wakes up this often. */
const LOOP: Millis = 500;
/** SHUTDOWN_TIMEOUT (in_tail.rb:1129). */
const LAST_READ: Millis = 5_000;

/** One in_tail source of a worker, as it is read in in_tail.rb and position_file.rb. */
export class Tail {
  readonly #world: World;
  readonly #take: (ids: readonly number[]) => boolean;
  readonly #history: FileHistory;
  readonly #watchers = new Map<string, Watcher>();
  /** The watchers of files that left their path, until rotate_wait is over. */
  readonly #rotated = new Set<Watcher>();
  #isOver = false;
  #isHurrying = false;

  constructor(world: World, history: FileHistory, take: (ids: readonly number[]) => boolean) {
    this.#world = world;
    this.#history = history;
    this.#take = take;
    // At start it drops what is unwatched, and what has no file any more (position_file.rb:133).
    world.posFile.compact(({ path }) => world.logs.byPath.has(path));
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
    const { settings } = this.#world;
    const batches = Math.floor(LAST_READ / settings.batchTakes);
    const most = settings.readLimit > 0 ? settings.readLimit : batches * settings.batch;
    let lines = 0;
    for (const watcher of this.#all()) lines += this.#readAtOnce(watcher, most - lines);
    this.die();
    return Math.ceil(lines / settings.batch) * settings.batchTakes;
  }

  die(): void {
    this.#isOver = true;
    for (const watcher of this.#all()) this.#closes(watcher, !this.#rotated.has(watcher));
    this.#watchers.clear();
    this.#rotated.clear();
  }

  /** The files that it has open. */
  seen(): Report['files'] {
    for (const watcher of this.#all()) this.#compare(watcher, watcher.read * LINE_BYTES);
    return this.#all().map((watcher) => sightOf(watcher, this.#world.clock.now));
  }

  /** Lines that it will still read. */
  ahead(): readonly number[] {
    return this.#all().flatMap(({ file, read }) => file.lines.slice(read));
  }

  /** in_tail's own thread does what the witness asks. */
  hurry(question: Question): void {
    const { clock, random } = this.#world;
    if (question === 'look' || this.#isHurrying) return;
    this.#isHurrying = true;
    clock.in(random.between(0, LOOP), () => {
      this.#isHurrying = false;
      if (this.#isOver) return;
      this.#find();
      if (question === 'finish') this.#finish();
    });
  }

  #find(): void {
    for (const [path, file] of this.#world.logs.byPath) {
      const isOpen = this.#all().some((watcher) => watcher.file === file);
      if (isFollowed(path) && !this.#watchers.has(path) && !isOpen) this.#follow(path, file);
    }
  }

  /** As if the last line had its newline. */
  #finish(): void {
    for (const { path, file, read, unfinished } of this.#all())
      if (unfinished > 0 && read === file.lines.length) this.#world.logs.end(path, file);
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
    const isSame = known?.inode === file.inode;
    const line = known ?? posFile.add(path);
    const position = isSame && (line.position ?? 0) <= sizeOf(file) ? (line.position ?? 0) : 0;
    const before = isSame ? (line.position ?? 0) : 0;
    const watcher = this.#begin(watcherOf(path, file, line, position / LINE_BYTES), before);
    // A new entry has inode 0 until the file is opened (position_file.rb:47).
    clock.in(isSame ? 0 : 1, () => {
      if (this.#isOver || watcher.inMemory || this.#watchers.get(path) !== watcher) return;
      posFile.update(line, position, file.inode);
      this.#watch(watcher);
    });
  }

  /** `before`: where the pos file says that it was read to. */
  #begin(watcher: Watcher, before = 0): Watcher {
    const { path, file } = watcher;
    this.#watchers.set(path, watcher);
    file.isCut = false;
    this.#history.begins(path, file, before);
    return watcher;
  }

  /** Looks now, and each second. */
  #watch(watcher: Watcher): void {
    this.#look(watcher);
    this.#world.clock.in(TICK, () => {
      if (!this.#isOver && this.#isOpen(watcher)) this.#watch(watcher);
    });
  }

  /** on_notify: first what has become of the path, then the lines (in_tail.rb:1359). */
  #look(watcher: Watcher): void {
    if (this.#isOver || !this.#isOpen(watcher)) return;
    const { logs, posFile } = this.#world;
    const now = logs.byPath.get(watcher.path);
    const hasLeft = this.#rotated.has(watcher);
    if (now === undefined && !watcher.inMemory) {
      this.#compare(watcher, watcher.read * LINE_BYTES);
      this.#readAtOnce(watcher, Number.POSITIVE_INFINITY);
      watcher.inMemory = true;
    } else if (now !== undefined && now !== watcher.file && !(hasLeft && watcher.inMemory)) {
      if (hasLeft && watcher.line.inode === now.inode) this.#turn(watcher, now);
      else this.#rotate(watcher, now);
      return;
    }
    const { file, line } = watcher;
    this.#compare(watcher);
    if (sizeOf(file) < watcher.size) {
      this.#history.cut(watcher);
      Object.assign(watcher, { read: 0, unfinished: 0 });
      file.isCut = false;
      if (!watcher.inMemory) posFile.update(line, 0);
    }
    watcher.size = sizeOf(file);
    this.#pump(watcher);
    if (watcher.read === file.lines.length) watcher.unfinished = file.unfinished;
  }

  /** A file that is as long as before, or longer, does not show in_tail that it was cut short in between (in_tail.rb:1359). */
  #compare({ path, file, size }: Watcher, least = size): void {
    if (!file.isCut || sizeOf(file) < least) return;
    this.#history.writtenAnew(path);
    file.isCut = false;
  }

  #closes(watcher: Watcher, isAtItsPath: boolean): void {
    this.#compare(watcher);
    this.#history.closes(watcher, isAtItsPath, this.#world.clock.now);
    const left = watcher.file.lines.length - watcher.read;
    if (left > 0) this.#world.tell(`in_tail lets go of ${left} unread lines`);
  }

  /**
   * The path was gone at a refresh, which also found the new file: both have one line in the pos file, so that the old file
   * seems to be the new one, cut short. It is closed as it is, and the new one is read twice (in_tail.rb, on_rotate).
   */
  #turn(watcher: Watcher, file: LogFile): void {
    this.#rotated.delete(watcher);
    this.#history.forgets(watcher.file);
    this.#world.posFile.update(watcher.line, 0);
    const again = watcherOf(watcher.path, file, watcher.line, 0);
    this.#rotated.add(again);
    this.#closeLater(again, false);
    this.#watch(again);
  }

  /** Another file stands at the path: the rest of the old one is read from memory, its line goes to the new one. */
  #rotate(old: Watcher, file: LogFile): void {
    const { posFile } = this.#world;
    this.#compare(old, old.read * LINE_BYTES);
    this.#readAtOnce(old, Number.POSITIVE_INFINITY);
    old.inMemory = true;
    this.#rotated.add(old);
    this.#closeLater(old, false);
    const fresh = this.#begin(watcherOf(old.path, file, old.line, 0));
    posFile.update(old.line, 0, file.inode);
    this.#watch(fresh);
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
      this.#closes(watcher, false);
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
    this.#history.lines += ids.length;
    watcher.unfinished = 0;
    watcher.second.lines += ids.length;
    if (!watcher.inMemory) posFile.update(line, watcher.read * LINE_BYTES);
    return ids.length;
  }
}
