import type { EntryPast, Judgement } from './inspected-rows.ts';
import { DEFAULT_POLICY } from './policy.ts';
import type { PositionEntry } from './pos-file.ts';
import type { Millis } from './units.ts';

/** How fast an entry is read, and how its lag has gone. */
export interface Pace {
  /** Bytes read a second; null: not known yet. */
  readonly rate: number | null;
  /** When nothing will be left if it goes on like this; null: not in sight. */
  readonly eta: Millis | null;
  /** The lag of the last looks, the oldest first. */
  readonly lags: readonly number[];
}

const NO_PACE: Pace = { rate: null, eta: null, lags: [] };
const SAMPLES = 60;
/** in_tail reads once a second at rest: a rate over less would be all or nothing. */
const WINDOW: Millis = 5_000;

interface Sample {
  readonly at: Millis;
  readonly read: number;
  readonly lag: number;
}

/** A row of looks at how much is read and how much is left. */
export class Track {
  readonly #samples: Sample[] = [];

  add(sample: Sample): void {
    this.#samples.push(sample);
    if (this.#samples.length > SAMPLES) this.#samples.shift();
  }

  pace(): Pace {
    const last = this.#samples.at(-1);
    if (last === undefined) return NO_PACE;
    const lags = this.#samples.map(({ lag }) => lag);
    const first = this.#samples.find(({ at }) => at >= last.at - WINDOW);
    const span = first === undefined ? 0 : last.at - first.at;
    if (first === undefined || span <= 0) return { ...NO_PACE, lags };
    const rate = Math.max(0, (1_000 * (last.read - first.read)) / span);
    const gain = (first.lag - last.lag) / span;
    return { rate, eta: last.lag > 0 && gain > 0 ? last.lag / gain : null, lags };
  }
}

interface Remembered {
  readonly position: number | null;
  readonly size: number | null;
  readonly movedAt: Millis | null;
  readonly stillSince: Millis;
  readonly leftSince: Millis | null;
  readonly track: Track;
  readonly seen: number;
}

/** What a live view remembers of every entry. */
export class History {
  readonly #entries = new Map<string, Remembered>();
  readonly #blockedAfter: Millis;
  #at: Millis = 0;
  #look = 0;

  constructor(blockedAfter: Millis = DEFAULT_POLICY.blockedAfter) {
    this.#blockedAfter = blockedAfter;
  }

  /** A look begins; entries that were not there in the last one are forgotten. */
  begin(at: Millis): void {
    for (const [key, { seen }] of this.#entries) if (seen < this.#look) this.#entries.delete(key);
    this.#at = at;
    this.#look += 1;
  }

  past(key: string, { position }: PositionEntry): EntryPast {
    const known = this.#entries.get(key);
    if (known === undefined) return { lastSize: null, stuck: false, movedAgo: null };
    const moved = known.position !== position;
    const since = Math.max(known.stillSince, known.leftSince ?? this.#at);
    const stuck = !moved && this.#at - since >= this.#blockedAfter;
    const movedAt = moved ? this.#at : known.movedAt;
    return { lastSize: known.size, stuck, movedAgo: movedAt === null ? null : this.#at - movedAt };
  }

  remember(key: string, { position }: PositionEntry, { size, lag, state }: Judgement): void {
    const known = this.#entries.get(key);
    const moved = known !== undefined && known.position !== position;
    const track = known?.track ?? new Track();
    if (lag !== null) track.add({ at: this.#at, read: position ?? 0, lag });
    this.#entries.set(key, {
      position,
      size: state === 'missing' ? (known?.size ?? null) : size,
      movedAt: moved ? this.#at : (known?.movedAt ?? null),
      stillSince: moved ? this.#at : (known?.stillSince ?? this.#at),
      leftSince: lag === null || lag === 0 ? null : (known?.leftSince ?? this.#at),
      track,
      seen: this.#look,
    });
  }

  pace(key: string): Pace {
    return this.#entries.get(key)?.track.pace() ?? NO_PACE;
  }
}
