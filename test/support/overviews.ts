import { DEFAULT_POLICY } from '../../src/core/drain/policy.ts';
import { knownByAges } from '../../src/core/inspect/first-look.ts';
import { type Found, foundBy } from '../../src/core/inspect/found.ts';
import type { Finding } from '../../src/core/inspect/pos-file-diagnosis.ts';
import type { Rates } from '../../src/core/inspect/rates.ts';
import type { Observation } from '../../src/core/look/observation.ts';
import { observe } from '../../src/core/look/observe.ts';
import type { Snapshot } from '../../src/core/look/snapshot.ts';
import type { Millis } from '../../src/core/text/units.ts';
import { ABSENT, entry, reading, snapshot, type Watched } from './builders.ts';

export interface Written {
  /** null: there is no such file. */
  readonly size: number | null;
  /** null: in_tail let it go. */
  readonly position: number | null;
  /** How long ago the log was written. */
  readonly age?: Millis;
  /** false: what is left is an unfinished last line. */
  readonly newlineLeft?: boolean;
  readonly inode?: number;
}

interface World extends Partial<Snapshot> {
  /** How long ago the pos file was written. */
  readonly writtenAgo?: Millis;
}

/** Looks of inspect, one after the other, at log files by path; one pos file has them all. */
export class Looks {
  readonly #rates: Rates | undefined;
  #seen: Observation | undefined;

  constructor(rates?: Rates) {
    this.#rates = rates;
  }

  look(
    at: Millis,
    files: Readonly<Record<string, Written>>,
    { writtenAgo = 0, ...world }: World = {},
    findings: readonly Finding[] = [],
  ): Found {
    const watched = Object.entries(files).map(watchedOf);
    const posFiles = [reading(watched, writtenAgo)];
    const look = snapshot(at, watched, { posFiles, buffers: undefined, fluentd: ABSENT, ...world });
    this.#seen = observe(this.#seen, look, DEFAULT_POLICY, knownByAges(at));
    this.#rates?.take(this.#seen);
    const found = foundBy(look, this.#seen, [], this.#rates);
    return { ...found, posFiles: found.posFiles.map((posFile) => ({ ...posFile, findings })) };
  }
}

/** The findings of a single look. */
export function foundOf(
  files: Readonly<Record<string, Written>>,
  world: World = {},
  findings?: readonly Finding[],
): Found {
  return new Looks().look(0, files, world, findings);
}

function watchedOf([path, file]: readonly [string, Written]): Watched {
  const { size, position, age = 0, newlineLeft = true, inode = 7 } = file;
  const one = entry({ path, position, inode: String(inode) });
  if (size === null) return [one, {}];
  const isLeft = size > (position ?? size);
  return [one, { atPath: { inode: one.inode, size, writtenAgo: age }, ...(isLeft && { newlineLeft }) }];
}
