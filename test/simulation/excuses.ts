import type { Millis } from '../../src/core/text/units.ts';
import type { Clock } from './clock.ts';
import type { Fluentd } from './fluentd.ts';
import { LINE_BYTES, type Lines } from './lines.ts';
import { isFollowed, type LogFile, type LogFiles } from './log-files.ts';
import type { Settings } from './plan.ts';
import type { PosFile } from './pos-file.ts';

/** posidle takes a position for held up after two seconds (abandoned.ts), and looks once a second. */
const STOOD_STILL: Millis = 3_500;

interface Known {
  readonly clock: Clock;
  readonly lines: Lines;
  readonly logs: LogFiles;
  readonly posFile: PosFile;
  readonly settings: Settings;
  readonly fluentd: Fluentd | undefined;
}

/** The losses that posidle cannot know of, each with its reason: no other may be missing from an outcome. */
export class Excuses {
  /** When posidle last began to look. */
  lookedAt: Millis = -1;
  /** When it last listed the files that in_tail is to find. */
  listedAt: Millis = -1;
  /** The workers whose monitor_agent has told it who they are. */
  readonly known = new Set<number>();
  /** It has seen a worker of the supervisor that runs in the process table. */
  hasSeenWorker = false;
  readonly #world: Known;
  /** Files that went away from a path before in_tail had opened them, and when. */
  readonly #passed = new Map<string, { readonly file: LogFile; readonly at: Millis }[]>();

  /** When in_tail opened a file. */
  readonly #foundAt = new Map<LogFile, Millis>();

  constructor(world: Known) {
    this.#world = world;
  }

  /** in_tail lets go of a file for good. */
  abandoned(file: LogFile, read: number): void {
    const { hasMonitor, totalLimit } = this.#world.settings;
    // in_tail reads the rest of a renamed file at once, unless a buffer is full: only monitor_agent tells.
    if (!hasMonitor && totalLimit < 1_000)
      this.#excuse(file.lines.slice(read), 'a buffer was full, and no monitor_agent tells');
    if (this.#world.logs.findByInode(file.inode) === undefined)
      this.#excuseUnseen(file, read, this.#sizeSeenAt(file));
  }

  /** A file goes away from its path. */
  goes(file: LogFile, path: string, isForGood: boolean): void {
    if (isForGood) this.#excuseUnseen(file, 0, this.lookedAt);
    // In another container nobody sees that no worker is there, unless its agent has told which one was.
    const { settings, fluentd } = this.#world;
    const isUnseen = settings.placement === 'rpc' && !this.known.has(fluentd?.worker?.pid ?? 0);
    if (isUnseen && this.#tail === undefined)
      this.#excuse(file.lines, 'it went away while a worker started in another container');
    if (this.#tail?.holds(file.inode) === undefined) {
      this.#excuseUnseen(file, 0, this.listedAt);
      const gone = { file, at: this.#world.clock.now };
      this.#passed.set(path, [...(this.#passed.get(path) ?? []), gone]);
    }
    // Without a full buffer in_tail reads the rest at once.
    else if (this.#world.settings.totalLimit < 1_000 && this.#isNew(file))
      this.#excuse(file.lines, 'it came and went between two looks, while a buffer was full');
    // Of a file that went away posidle looks at what came last one look later, when in_tail may have let go of it.
    else if (this.#world.settings.totalLimit < 1_000 && (!isFollowed(path) || this.#isSoonClosed))
      this.#excuseUnseen(file, 0, this.lookedAt);
    // A throttled in_tail reads the rest from memory, and posidle waits for as much as it saw in an entry.
    else if (this.#world.settings.readLimit > 0) this.#excuseUnseen(file, 0, this.#sizeSeenAt(file));
    // How long a throttled in_tail was kept from reading the rest, only monitor_agent tells where nobody sees what it has open.
    const isUntold = settings.placement === 'rpc' && settings.readLimit > 0 && !settings.hasMonitor;
    if (isUntold && settings.totalLimit < 1_000)
      this.#excuse(file.lines, 'a buffer was full, and no monitor_agent tells');
    const isCutUnseen = file.truncatedAt !== undefined && file.truncatedAt >= this.lookedAt;
    if (isCutUnseen && !file.isCutNoticed)
      this.#excuse(file.lines, 'its file was truncated and went away before in_tail noticed');
  }

  /** in_tail turns to the file that stands at a path now, or finds it: what came and went there between two listings, it may have read. */
  turned(path: string): void {
    const why = 'two files left its path between two listings';
    for (const { file, at } of this.#passed.get(path) ?? []) {
      if (this.listedAt <= at) this.#excuse(file.lines, why);
      if (this.listedAt <= (file.truncatedAt ?? -1)) this.#excuse(file.cut, why);
    }
  }

  /** A file is about to be truncated: in_tail may have read the rest just before, unless it had stood still for a while. */
  truncated(path: string, file: LogFile): void {
    if (this.#tail?.holds(file.inode) === undefined) return;
    const { read, movedAt } = this.#tail.readOf(path);
    const isCutUnseen = file.truncatedAt !== undefined && !file.isCutNoticed;
    const movedOrFound = Math.max(movedAt, this.#foundAt.get(file) ?? 0);
    const rest = file.lines
      .slice(isCutUnseen ? 0 : read)
      .filter((id) => this.#world.clock.now - Math.max(movedOrFound, this.#writtenAt(id)) < STOOD_STILL);
    this.#excuse(rest, 'its file was truncated while in_tail was about to read it');
  }

  /** One look cannot tell whether in_tail found a file before or after it was truncated. */
  found(file: LogFile): void {
    this.#foundAt.set(file, this.#world.clock.now);
    if (file.truncatedAt !== undefined && this.listedAt <= file.truncatedAt)
      this.#excuse(file.cut, 'its file was truncated just before in_tail found it');
  }

  /** A file that is as long as before, or longer, does not show that it was cut short in between; in_tail skips lines then. */
  filled(path: string, file: LogFile): void {
    if (file.truncatedAt === undefined) return;
    const why = 'its file was truncated and filled again before posidle looked';
    const read = this.#tail?.readOf(path).read ?? this.#positionOf(path) / LINE_BYTES;
    const seen = file.lastCut.filter((id) => this.#writtenAt(id) < this.listedAt).length;
    if (this.listedAt <= file.truncatedAt && file.lines.length >= seen) this.#excuse(file.cut, why);
    if (!file.isCutNoticed && file.lines.length >= read)
      this.#excuse(
        file.lines.slice(0, read),
        'its file was truncated and filled again before in_tail noticed',
      );
  }

  /** In another container a worker is known by its monitor_agent alone; in the same one a supervisor's first worker that nobody saw is none that was replaced. */
  workerDies(): void {
    const { settings, lines, fluentd, logs } = this.#world;
    const worker = fluentd?.worker;
    if (worker === undefined) return;
    const held = [...lines.all.keys()].filter((id) => lines.all[id]?.fate === 'buffered');
    if (!this.known.has(worker.pid)) {
      const dropped = [...lines.all.keys()].filter((id) => lines.all[id]?.fate === 'thrown away');
      lines.excuse(dropped, 'thrown away', 'its worker died before its monitor_agent was asked');
    }
    const isRemote = settings.placement === 'rpc';
    if (isRemote ? this.known.has(worker.pid) : this.hasSeenWorker) return;
    const where = isRemote
      ? 'in another container before its monitor_agent was asked'
      : 'before any was seen';
    lines.excuse(held, 'lost in memory', `its worker died ${where}`);
    if (!isRemote) return;
    // Where its path has another file, the pos file shows the same as if in_tail had only turned to that one.
    for (const { path, file, read } of worker.tail?.away() ?? [])
      if (logs.byPath.has(path))
        this.#excuse(
          file.lines.slice(read),
          `it had not turned to the next file, and its worker died ${where}`,
        );
  }

  #positionOf(path: string): number {
    return this.#world.posFile.find(path)?.position ?? 0;
  }

  /** Neither an entry nor a listing has shown it yet. */
  #isNew(file: LogFile): boolean {
    const hasEntry = (this.#foundAt.get(file) ?? 0) < this.lookedAt;
    return this.#writtenAt(file.lines[0] ?? -1) >= (hasEntry ? this.lookedAt : this.listedAt);
  }

  /** When posidle last saw how long a file is: an entry shows it in each look, a listing in some. */
  #sizeSeenAt(file: LogFile): Millis {
    return (this.#foundAt.get(file) ?? 0) < this.lookedAt ? this.lookedAt : this.listedAt;
  }

  get #isSoonClosed(): boolean {
    return this.#world.settings.rotateWait <= 1_000;
  }

  get #tail() {
    return this.#world.fluentd?.worker?.tail;
  }

  #excuseUnseen(file: LogFile, from: number, lookedAt: Millis): void {
    const unseen = file.lines.slice(from).filter((id) => this.#writtenAt(id) >= lookedAt);
    this.#excuse(unseen, 'it was gone before posidle looked');
  }

  #writtenAt(id: number): Millis {
    return this.#world.lines.all[id]?.writtenAt ?? 0;
  }

  /** Unread they may stay unread; what is read may not be lost later. Below a limit in_tail may read them only when Fluentd is told to stop. */
  #excuse(ids: readonly number[], why: string): void {
    const { lines, settings } = this.#world;
    lines.excuse(ids, 'written', why);
    if (settings.readLimit > 0) lines.excuse(ids, 'lost in memory', why);
  }
}
