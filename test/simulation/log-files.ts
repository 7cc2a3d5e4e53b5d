import type { Millis } from '../../src/core/text/units.ts';
import type { Clock } from './clock.ts';
import type { Lines } from './lines.ts';

/** Bytes of each line, its newline included. */
export const LINE_BYTES = 10;

/** A log file, also when it no longer has a name. */
export interface LogFile {
  readonly inode: string;
  /** All that it was ever called. */
  readonly paths: Set<string>;
  /** The ids of its whole lines. */
  lines: number[];
  /** Bytes of a last line without a newline. */
  unfinished: number;
  writtenAt: Millis;
  /** How much was cut off since in_tail looked. */
  cutAt: number;
  /** It was cut short, and in_tail has not looked since. */
  isCut: boolean;
  /** How long it was when posidle last listed it. */
  listed: number;
  /** Lines that were cut off since, while no worker was there. */
  cut: readonly number[];
  /** It left its path before anybody looked: neither posidle nor a worker was there to see it. */
  isUnseen: boolean;
  /** It left its path while no worker ran. */
  hasLeftUnseen: boolean;
}

export function sizeOf({ lines, unfinished }: LogFile): number {
  return lines.length * LINE_BYTES + unfinished;
}

/** The directory that main logs into. */
export class LogFiles {
  readonly byPath = new Map<string, LogFile>();
  /** Is told of each file that changed. */
  onChange: (path: string) => void = () => {};
  readonly #clock: Clock;
  readonly #lines: Lines;
  #lastInode = 100;

  constructor(clock: Clock, lines: Lines) {
    this.#clock = clock;
    this.#lines = lines;
  }

  append(path: string, count: number): void {
    const file = this.#open(path);
    for (let line = 0; line < count; line += 1) file.lines.push(this.#lines.write(file));
    if (count > 0) file.unfinished = 0;
    if (sizeOf(file) >= file.listed) this.#lines.areUnseen(file.cut);
    this.#changed(path, file);
  }

  /** Begins a line, and does not end it. */
  begin(path: string): void {
    const file = this.#open(path);
    file.unfinished = 4;
    this.#changed(path, file);
  }

  /** Ends the last line of a file, unless it has another name now. */
  end(path: string, file: LogFile): void {
    if (this.byPath.get(path) !== file || file.unfinished === 0) return;
    file.unfinished = 0;
    file.lines.push(this.#lines.write(file));
    this.#changed(path, file);
  }

  rename(from: string, to: string): void {
    const file = this.byPath.get(from);
    if (file === undefined) return;
    this.byPath.delete(from);
    this.byPath.set(to, file);
    file.paths.add(to);
    this.onChange(from);
  }

  remove(path: string): void {
    if (this.byPath.delete(path)) this.onChange(path);
  }

  truncate(path: string): void {
    const file = this.byPath.get(path);
    if (file === undefined) return;
    file.cutAt = (file.isCut ? file.cutAt : 0) + sizeOf(file);
    file.isCut = true;
    file.lines = [];
    file.unfinished = 0;
    this.#changed(path, file);
  }

  findByInode(inode: string): [path: string, file: LogFile] | undefined {
    for (const found of this.byPath) if (found[1].inode === inode) return found;
    return undefined;
  }

  #open(path: string): LogFile {
    const known = this.byPath.get(path);
    if (known !== undefined) return known;
    this.#lastInode += 1;
    const file = {
      inode: String(this.#lastInode),
      paths: new Set([path]),
      lines: [],
      unfinished: 0,
      writtenAt: this.#clock.wall,
      cutAt: 0,
      isCut: false,
      listed: 0,
      cut: [],
      isUnseen: false,
      hasLeftUnseen: false,
    };
    this.byPath.set(path, file);
    return file;
  }

  #changed(path: string, file: LogFile): void {
    file.writtenAt = this.#clock.wall;
    this.onChange(path);
  }
}

/** `path /logs/*.log` */
export function isFollowed(path: string): boolean {
  return path.startsWith('/logs/') && path.endsWith('.log');
}
