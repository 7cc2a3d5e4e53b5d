import { rememberEntry } from '../observe/judge-entry.ts';
import { MOST_VANISHED } from '../observe/memory.ts';
import type { KnownEntry, ObservedFile } from '../observe/observation.ts';
import { copied } from '../pos-file/entry-rows.ts';
import { entryKeyIn, entryOf, type PositionEntry } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import { SizeHistory } from './size-history.ts';
import { NO_PACE, type Pace, Track } from './track.ts';

/** An entry in a live view: how fast it is read, and what was seen of it. */
export class Followed extends Track {
  /** `entryKeyIn`; empty: it is forgotten. */
  key: string;
  /** The one that was looked at next. */
  next: Followed | undefined;
  #memory: KnownEntry | undefined;
  /** When it was seen to move; null: never. */
  movedAt: Millis | null = null;
  /** The last look that found it. */
  seenAt: Millis | undefined;
  #sizes: SizeHistory | undefined;
  #since: Millis | undefined;
  #at: Millis = 0;
  /** Between the last two looks. */
  #gap: Millis = 0;

  constructor(key: string, samples?: number) {
    super(samples);
    this.key = key;
  }

  isOf(posFile: string, { path, inode }: PositionEntry): boolean {
    const { key } = this;
    const isAsLong = key.length === posFile.length + path.length + inode.length + 2;
    return (
      isAsLong && key.startsWith(path, posFile.length + 1) && key.endsWith(inode) && key.startsWith(posFile)
    );
  }

  take(file: ObservedFile, known: KnownEntry | undefined, at: Millis): void {
    if (known !== undefined && known.movedAt !== file.movedAt) this.movedAt = file.movedAt;
    this.late = this.#lateness(file, at);
    this.#remember(rememberEntry(file, known, at));
    if (this.#since !== undefined) this.#gap = at - this.#at;
    this.#since ??= at;
    this.#at = at;
    const { position, lag } = file;
    if (lag !== null) this.add({ at, read: position ?? 0, lag });
  }

  get memory(): KnownEntry | undefined {
    return this.#memory;
  }

  /** The last look that found its file, or a file in its place. */
  get takenAt(): Millis {
    return this.#at;
  }

  /** In its place: an object for each file and look would outlive the young generation, and be cleared away with the old one. */
  #remember(now: KnownEntry): void {
    if (now !== this.#memory) this.#memory = Object.assign(this.#memory ?? {}, now);
  }

  #lateness({ size, position, state, read }: ObservedFile, at: Millis): Millis | null {
    if (read) this.#sizes = undefined;
    if (read || size === null || position === null) return read ? 0 : null;
    const reached = state === 'truncated' ? 0 : position;
    if (this.#sizes === undefined) {
      this.#sizes = new SizeHistory();
      // What is left came after the look before.
      const before = this.late === 0 ? this.memory?.position : undefined;
      if (before !== undefined && before !== null)
        this.#sizes.look(this.#at, Math.min(before, reached), reached);
    }
    return this.#sizes.look(at, size, reached);
  }

  /** How long bytes have waited, as far as that was seen. */
  get waited(): Millis {
    return this.late ?? this.#at - (this.#since ?? this.#at);
  }

  /** How long they have waited at least: when they came between two looks is not known. */
  get hasWaited(): Millis {
    return this.waited - (this.late === null ? 0 : this.#gap);
  }

  hasStood(span: Millis): boolean {
    const since = Math.max(this.memory?.movedAt ?? this.#at, this.memory?.leftSince ?? 0);
    return this.#at - since >= span;
  }
}

/** What is new, or was cut short, was read from its start. */
function readSince(memory: KnownEntry | undefined, { position }: ObservedFile): number {
  const start = memory?.position ?? 0;
  return position === null ? 0 : position >= start ? position - start : position;
}

/** What a live view remembers of every entry. */
export class History {
  /** By inode, since when a file has waited to be found. */
  #unfoundSince: ReadonlyMap<string, Millis> = new Map();
  /** How long the oldest unread byte of all has waited; null: not known of some. */
  late: Millis | null = 0;
  /** How long it has waited at least: of a file that was late at the first look, since then. */
  waited: Millis = 0;
  readonly #entries = new Map<string, Followed>();
  readonly #samples: number | undefined;
  /** The entry that was looked at last, and how many in this look. */
  #last: Followed | undefined;
  #taken = 0;
  #look = 0;
  #at: Millis | undefined;
  #read = 0;
  /** The paths of the entries that this look was the first to find. */
  #added = new Set<string>();

  /** `samples`: of each entry that moves; as many as a chart has, if not given. */
  constructor(samples?: number) {
    this.#samples = samples;
  }

  /** Bytes that were seen to be read since the first look, also of entries that have gone. */
  get read(): number {
    return this.#read;
  }

  /** A look begins. Gives when the one before began. */
  begin(at: Millis): Millis | undefined {
    const before = this.#at;
    this.#at = at;
    this.#look += 1;
    this.late = 0;
    this.waited = 0;
    this.#added = new Set();
    this.#forgetOldest(before);
    this.#taken = 0;
    return before;
  }

  /** Of those that vanished, as the daemon does. */
  #forgetOldest(before: Millis | undefined): void {
    let surplus = this.#entries.size - this.#taken - MOST_VANISHED;
    if (surplus <= 0) return;
    for (const followed of this.#entries.values()) {
      if (followed.seenAt === before) continue;
      this.#drop(followed);
      surplus -= 1;
      if (surplus === 0) return;
    }
  }

  /** As the daemon does: see replacedIn. */
  #forgetReplaced(at: Millis): void {
    if (this.#added.size === 0) return;
    for (const followed of this.#entries.values()) {
      if (followed.takenAt === at || followed.memory === undefined) continue;
      const { path, inode } = entryOf(followed.key);
      if (inode !== '0' && this.#added.has(path)) this.#drop(followed);
    }
  }

  #drop(followed: Followed): void {
    this.#entries.delete(followed.key);
    followed.key = '';
  }

  /** Entries keep their places in a pos file: the next is mostly the one that came next before, and a key takes longer to find. */
  of(posFile: string, entry: PositionEntry): Followed {
    const next = this.#last?.next;
    const followed = next?.isOf(posFile, entry) ? next : this.#known(posFile, entry);
    if (this.#last !== undefined) this.#last.next = followed;
    this.#last = followed;
    this.#taken += 1;
    followed.seenAt = this.#at;
    return followed;
  }

  #known(posFile: string, entry: PositionEntry): Followed {
    const known = this.find(posFile, entry);
    if (known !== undefined) return known;
    const followed = new Followed(copied(entryKeyIn(posFile, entry)), this.#samples);
    this.#entries.set(followed.key, followed);
    return followed;
  }

  take(followed: Followed, file: ObservedFile, known: KnownEntry | undefined, at: Millis): void {
    if (followed.memory === undefined && this.#look > 1) this.#added.add(file.path);
    const read = this.#look > 1 ? readSince(followed.memory, file) : 0;
    this.#read += read;
    followed.take(file, known, at);
    if (file.read) return;
    this.waited = Math.max(this.waited, followed.waited);
    this.late = this.late === null || followed.late === null ? null : Math.max(this.late, followed.late);
  }

  /** A look ends. */
  end(undiscovered: readonly { readonly inode: string; readonly size: number }[], at: Millis): void {
    this.#forgetReplaced(at);
    const waiting = undiscovered.filter(({ size }) => size > 0);
    this.#unfoundSince = new Map(waiting.map(({ inode }) => [inode, this.#unfoundSince.get(inode) ?? at]));
  }

  /** For how long a file has waited to be found. */
  waitedToBeFound(inode: string): Millis {
    const at = this.#at ?? 0;
    return at - (this.#unfoundSince.get(inode) ?? at);
  }

  find(posFile: string, entry: Omit<PositionEntry, 'position'>): Followed | undefined {
    return this.#entries.get(entryKeyIn(posFile, entry));
  }

  pace(posFile: string, entry: Omit<PositionEntry, 'position'>): Pace {
    return this.find(posFile, entry)?.pace() ?? NO_PACE;
  }
}
