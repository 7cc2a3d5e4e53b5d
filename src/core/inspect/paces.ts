import type { Observation, ObservedFile } from '../look/observation.ts';
import type { Millis } from '../text/units.ts';
import { SizeHistory } from './size-history.ts';
import { Track } from './track.ts';

export class FilePace extends Track {
  /** How long the oldest unread byte has waited; null if unknown. */
  late: Millis | null = 0;
  #sizes: SizeHistory | undefined;
  #since: Millis | undefined;
  #at: Millis = 0;
  #position: number | null = null;
  #gap: Millis = 0;

  take(file: ObservedFile, at: Millis): void {
    const { position, lag, state } = file;
    // A missing file keeps its last lateness, because nothing more is known.
    if (state === 'missing') return;
    this.late = this.#lateness(file, at);
    if (this.#since !== undefined) this.#gap = at - this.#at;
    this.#since ??= at;
    this.#at = at;
    this.#position = position;
    if (lag !== null) this.add({ at, read: position ?? 0, lag });
  }

  #lateness({ size, position, state, read }: ObservedFile, at: Millis): Millis | null {
    if (read) this.#sizes = undefined;
    if (read || size === null || position === null) return read ? 0 : null;
    const reached = state === 'truncated' ? 0 : position;
    if (this.#sizes === undefined) {
      this.#sizes = new SizeHistory();
      // All bytes were read at the last look, so the unread ones came after it.
      if (this.late === 0 && this.#position !== null)
        this.#sizes.record(this.#at, Math.min(this.#position, reached), reached);
    }
    return this.#sizes.record(at, size, reached);
  }

  /** The waiting time that posidle has seen. It may have begun before the first look. */
  get waited(): Millis {
    return this.late ?? this.#at - (this.#since ?? this.#at);
  }

  /** The least waiting time: the bytes may have come any time between two looks. */
  get waitedAtLeast(): Millis {
    return this.waited - (this.late === null ? 0 : this.#gap);
  }

  /** Bytes that in_tail has read since the last look. It reads a new or truncated file from its start. */
  readSince({ position }: ObservedFile): number {
    const start = this.#position ?? 0;
    return position === null ? 0 : position >= start ? position - start : position;
  }
}

/** The rate and the lateness of all files, from repeated looks. */
export class Paces {
  readonly total = new Track();
  /** How long the oldest unread byte of all files has waited; null if unknown for a file. */
  late: Millis | null = 0;
  /** The same, but a file that was late at the first look counts from then. */
  waited: Millis = 0;
  readonly #files = new Map<string, FilePace>();
  /** By path, since when in_tail has not found the file. */
  #unfound: ReadonlyMap<string, Millis> = new Map();
  #at: Millis | undefined;
  #read = 0;

  take(seen: Observation): void {
    const { at, files, undiscovered, memory } = seen;
    const waiting = undiscovered.filter(({ size }) => size > 0);
    this.#unfound = new Map(waiting.map(({ path }) => [path, this.#unfound.get(path) ?? at]));
    const isFirst = this.#at === undefined;
    this.#at = at;
    this.late = 0;
    this.waited = Math.max(0, ...waiting.map(({ path }) => this.waitedToBeFound(path)));
    let lag = waiting.reduce((sum, { size }) => sum + size, 0);
    for (const file of files) {
      const pace = this.#paceOf(file.key);
      if (!isFirst) this.#read += pace.readSince(file);
      pace.take(file, at);
      lag += file.lag ?? 0;
      if (file.read) continue;
      this.waited = Math.max(this.waited, pace.waited);
      this.late = this.late === null || pace.late === null ? null : Math.max(this.late, pace.late);
    }
    this.total.add({ at, read: this.#read, lag });
    if (this.#files.size === files.length) return;
    for (const key of this.#files.keys())
      if (!memory.entries.has(key) && !memory.departed.has(key)) this.#files.delete(key);
  }

  of(key: string): FilePace | undefined {
    return this.#files.get(key);
  }

  waitedToBeFound(path: string): Millis {
    const at = this.#at ?? 0;
    return at - (this.#unfound.get(path) ?? at);
  }

  #paceOf(key: string): FilePace {
    const pace = this.#files.get(key) ?? new FilePace();
    this.#files.set(key, pace);
    return pace;
  }
}
