import type { ConfFacts } from '../core/fluent-conf/facts.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import {
  type Depth,
  entriesOf,
  type FollowedFile,
  type FollowedReading,
  type Snapshot,
} from '../core/look/snapshot.ts';
import type { Millis } from '../core/text/units.ts';
import { type Host, PartlyListed } from '../host.ts';
import { Kept } from './kept.ts';

/** How often new files are looked for at rest. What comes and goes in less time is not seen. */
const LISTING_AGE: Millis = 1_000;
/** Some file systems (FUSE) do not date their directories. in_tail itself looks once a minute, unless it is told otherwise. */
const LONGEST_TRUST: Millis = 30_000;

type Listings = Pick<Host, 'now' | 'listFollowed' | 'namesStamp'>;
type Sources = Pick<ConfFacts, 'sources' | 'hidden'> | undefined;

/** What a look has found so far. */
interface Found extends Pick<Snapshot, 'looks' | 'posFiles'> {}

interface Listing {
  readonly at: Millis;
  readonly followed: readonly FollowedReading[];
}

/**
 * Lists the files that Fluentd is to read; at rest again only where names have changed, or sizes that no entry shows. So the size of
 * a file that has an entry may be an older one: its look tells the one of now.
 */
export class FollowedFiles {
  readonly #host: Listings;
  readonly #conf: Sources;
  readonly #kept = new Kept<Listing>();
  #last: Listing | undefined;
  /** The looks beside which every file of a listing was known. */
  #known: (Pick<Listing, 'followed'> & Pick<Snapshot, 'looks'>) | undefined;

  constructor(host: Listings, conf: Sources) {
    this.#host = host;
    this.#conf = conf;
  }

  async list(depth: Depth, found: Found): Promise<readonly FollowedReading[]> {
    const at = this.#host.now();
    const last = this.#last;
    if (depth === 'rest' && last !== undefined && at - last.at < LISTING_AGE) return last.followed;
    const kept = this.#kept.get(await this.#stamp(), at);
    const isTrusted = depth === 'rest' && kept !== undefined && at - kept.at < LONGEST_TRUST;
    if (isTrusted && this.#areKnown(kept.followed, found)) return kept.followed;
    const listed = await listFollowed(this.#host, this.#conf);
    // The same object says that nothing has changed.
    const followed = last !== undefined && haveSameFiles(listed, last.followed) ? last.followed : listed;
    this.#last = { at, followed };
    this.#kept.set(this.#last, at);
    return followed;
  }

  #areKnown(followed: Listing['followed'], found: Found): boolean {
    const { looks } = found;
    if (this.#known?.followed === followed && this.#known.looks === looks) return true;
    const areKnown = followed.every((reading) => isKnown(reading, found));
    if (areKnown) this.#known = { followed, looks };
    return areKnown;
  }

  async #stamp(): Promise<string | undefined> {
    const sources = this.#conf?.sources ?? [];
    const stamps = await Promise.all(sources.map((source) => this.#host.namesStamp(source)));
    return stamps.includes(undefined) ? undefined : stamps.join('\n');
  }
}

function haveSameFiles(now: readonly FollowedReading[], before: readonly FollowedReading[]): boolean {
  return now.every(({ files, unknown }, source) => {
    const known = before[source]?.files ?? [];
    const isSame = ({ path, inode, size }: FollowedFile, index: number) =>
      path === known[index]?.path && inode === known[index].inode && size === known[index].size;
    return unknown === before[source]?.unknown && files.length === known.length && files.every(isSame);
  });
}

/**
 * The entry and the look of every file show all of it. An entry whose position is 0 may be that of a file that Fluentd may not read;
 * behind a link another file may stand where no name has changed.
 */
function isKnown({ posFile, files, unknown }: FollowedReading, { posFiles, looks }: Found): boolean {
  if (unknown !== undefined) return false;
  const last = new Map(entriesOf(posFiles, posFile).map((entry) => [entry.path, entry]));
  return files.every(({ path, inode }) => {
    const entry = last.get(path);
    if (entry?.inode !== inode || entry.position === null || entry.position === 0) return false;
    return looks.get(entry.key)?.atPath?.inode === inode;
  });
}

/** The files that each source is to read. */
async function listFollowed(
  host: Pick<Host, 'listFollowed'>,
  conf: Sources,
): Promise<readonly FollowedReading[]> {
  const { sources, hidden } = conf ?? { sources: [], hidden: [] };
  const known: FollowedReading[] = [];
  // One after the other: they share the memory.
  for (const source of sources) {
    const besides = known.reduce((sum, { files }) => sum + files.length, 0);
    if (source.posFile !== undefined) known.push(await followedBy(host, source, source.posFile, besides));
  }
  const unknown = hidden.map((why) => ({ ...NOT_KNOWN, unknown: why }));
  return [...known, ...unknown];
}

const NOT_KNOWN = { posFile: 'further sources', refreshInterval: 0, byInode: false, files: [] } as const;

async function followedBy(
  host: Pick<Host, 'listFollowed'>,
  source: TailSource,
  posFile: string,
  besides: number,
): Promise<FollowedReading> {
  const { refreshInterval, followInodes: byInode } = source;
  const reading = { posFile, refreshInterval, byInode };
  if (source.paths.length === 0) return { ...reading, files: [], unknown: 'its path could not be evaluated' };
  try {
    return { ...reading, files: await host.listFollowed(source, besides) };
  } catch (error) {
    const files = error instanceof PartlyListed ? error.files : [];
    return { ...reading, files, unknown: error instanceof Error ? error.message : String(error) };
  }
}
