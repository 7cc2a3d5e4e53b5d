import { NEWLINE } from '../core/pos-file/pos-file.ts';
import type { Millis } from '../core/text/units.ts';
import type { FileContent, Host } from '../host.ts';
import { fileStamp } from '../node/files/files.ts';
import { readPosBytes } from '../node/files/pos-bytes.ts';
import { type Place, STDIN } from './inspect-subject.ts';

/** An entry takes about 1 KB while it is looked at. */
const MOST_LINES = 100_000;

/** Reads pos files by their names, from where they lie, and of each no more than its first lines. */
export class PosFileBytes implements Pick<Host, 'expand' | 'readFile' | 'fileStamp' | 'now'> {
  readonly #clock: Pick<Host, 'now'>;
  /** Is told of a large file, which takes a while. */
  readonly #reading: (path: string, bytes: number) => void;
  #places: ReadonlyMap<string, string> = new Map();
  /** By name, so many further lines. */
  readonly #more = new Map<string, number>();
  /** By name, what was read in this look. */
  readonly #bytes = new Map<string, Uint8Array>();

  constructor(clock: Pick<Host, 'now'>, reading: (path: string, bytes: number) => void) {
    this.#clock = clock;
    this.#reading = reading;
  }

  set places(places: readonly Place[]) {
    this.#places = new Map(places.map(({ name, place }) => [name, place]));
  }

  now(): Millis {
    return this.#clock.now();
  }

  async expand(name: string): Promise<readonly string[]> {
    return [name];
  }

  async fileStamp(name: string) {
    return name === STDIN ? undefined : await fileStamp(this.#placeOf(name));
  }

  async readFile(name: string): Promise<FileContent | undefined> {
    const found = await readPosBytes(this.#placeOf(name));
    if (found === undefined) return undefined;
    const { bytes: all, writtenAgo } = found;
    // A FIFO that nobody writes to, a command that failed in front of `inspect -`: no word of Fluentd's.
    if (all.length === 0 && writtenAgo === null) throw new Error('nothing came through it');
    this.#reading(name, all.length);
    const { bytes, more } = firstLines(all);
    this.#more.set(name, more);
    this.#bytes.set(name, bytes);
    return { bytes, writtenAgo: writtenAgo ?? Number.POSITIVE_INFINITY };
  }

  moreOf(name: string): number {
    return this.#more.get(name) ?? 0;
  }

  /** What was read of it in this look; undefined: it had not changed. */
  bytesOf(name: string): Uint8Array | undefined {
    return this.#bytes.get(name);
  }

  forgetBytes(): void {
    this.#bytes.clear();
  }

  #placeOf(name: string): string {
    return this.#places.get(name) ?? name;
  }
}

function firstLines(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly more: number } {
  let [lines, end] = [0, bytes.length];
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    lines += 1;
    if (lines === MOST_LINES) end = at + 1;
  }
  // A copy: what is cut off must not stay in memory.
  return lines <= MOST_LINES ? { bytes, more: 0 } : { bytes: bytes.slice(0, end), more: lines - MOST_LINES };
}
