import { DEFAULT_POLICY } from '../../src/core/drain/policy.ts';
import { knownByAges } from '../../src/core/inspect/first-look.ts';
import { type Found, foundBy } from '../../src/core/inspect/found.ts';
import type { Finding } from '../../src/core/inspect/pos-file-diagnosis.ts';
import type { Rates } from '../../src/core/inspect/rates.ts';
import type { Observation } from '../../src/core/look/observation.ts';
import { observe } from '../../src/core/look/observe.ts';
import type { FileLook, PosFileReading, Snapshot } from '../../src/core/look/snapshot.ts';
import { keyedEntries } from '../../src/core/pos-file/pos-file.ts';
import type { Millis } from '../../src/core/text/units.ts';

const PATH = '/pos';

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
    const snapshot: Snapshot = { ...NOTHING, lookedAt: at, at, ...readBy(files, writtenAgo), ...world };
    this.#seen = observe(this.#seen, snapshot, DEFAULT_POLICY, knownByAges(at));
    this.#rates?.take(this.#seen);
    const findingsIn = () => findings;
    return foundBy(snapshot, this.#seen, findingsIn, this.#rates);
  }
}

const NOTHING = {
  depth: 'all',
  followed: [],
  source: 'outside',
  reports: undefined,
  buffers: undefined,
  fluentd: { kind: 'absent', why: 'nobody looked' },
  mains: undefined,
  requests: [],
} as const;

/** The findings of a single look. */
export function foundOf(
  files: Readonly<Record<string, Written>>,
  world: World = {},
  findings?: readonly Finding[],
): Found {
  return new Looks().look(0, files, world, findings);
}

/** A source of the pos file with these files, each of so many bytes, that in_tail has not found. */
export function unfound(sizes: Readonly<Record<string, number>>): Pick<Snapshot, 'followed'> {
  const files = Object.entries(sizes).map(([path, size]) => ({ path, size, inode: `9${path}` }));
  return { followed: [{ posFile: PATH, byInode: false, files }] };
}

export function unreadable(error: string): Pick<Snapshot, 'posFiles'> {
  return { posFiles: [{ path: PATH, kind: 'unreadable', error }] };
}

function readBy(
  files: Readonly<Record<string, Written>>,
  writtenAgo: Millis,
): Pick<Snapshot, 'posFiles' | 'looks'> {
  const all = Object.entries(files);
  const entries = keyedEntries(
    PATH,
    all.map(([path, { position, inode = 7 }]) => ({ path, position, inode: String(inode) })),
  );
  const reading: PosFileReading = { path: PATH, kind: 'read', entries, unparsable: [], writtenAgo };
  const looks = entries.map(({ key, path }): [string, FileLook] => [key, lookAt(files[path])]);
  return { posFiles: [reading], looks: new Map(looks) };
}

function lookAt(file: Written | undefined): FileLook {
  if (file === undefined || file.size === null) return {};
  const { size, position, age = 0, newlineLeft = true, inode = 7 } = file;
  const isLeft = size > (position ?? size);
  return { atPath: { inode: String(inode), size, writtenAgo: age }, ...(isLeft && { newlineLeft }) };
}
