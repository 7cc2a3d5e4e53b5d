import type { ConfFacts } from '../core/fluent-conf/facts.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import type {
  Depth,
  FollowedFile,
  FollowedReading,
  PosFileReading,
  Snapshot,
} from '../core/look/snapshot.ts';
import { entryKey } from '../core/pos-file/pos-file.ts';
import type { Millis } from '../core/text/units.ts';
import { type Host, PartlyListed } from '../host.ts';
import { Kept } from './kept.ts';

/** How often new files are looked for at rest. What comes and goes in less time is not seen. */
const LISTING_AGE: Millis = 1_000;
/** Some file systems (FUSE) do not date their directories. in_tail itself looks once a minute, unless it is told otherwise. */
const LONGEST_TRUST: Millis = 30_000;

type Sources = Pick<ConfFacts, 'sources' | 'hidden'> | undefined;

/** What a look has found so far. */
interface Found extends Pick<Snapshot, 'looks' | 'posFiles'> {}

interface Listing {
  readonly at: Millis;
  readonly followed: readonly FollowedReading[];
  /** The looks beside which it was made. */
  readonly looks: Snapshot['looks'];
  /** Every file has an entry that shows its size. */
  readonly isKnown: boolean;
}

/** Lists the files that Fluentd is to read; at rest again only where names have changed, or sizes that no entry shows. */
export class FollowedFiles {
  readonly #host: Host;
  readonly #conf: Sources;
  readonly #kept = new Kept<Listing>();
  #last: Listing | undefined;

  constructor(host: Host, conf: Sources) {
    this.#host = host;
    this.#conf = conf;
  }

  async list(depth: Depth, { looks, posFiles }: Found): Promise<readonly FollowedReading[]> {
    const at = this.#host.now();
    const last = this.#last;
    if (depth === 'rest' && last !== undefined && at - last.at < LISTING_AGE) return last.followed;
    const kept = this.#kept.get(await this.#stamp(), at);
    const isTrusted = kept?.isKnown === true && kept.looks === looks && at - kept.at < LONGEST_TRUST;
    if (depth === 'rest' && isTrusted) return kept.followed;
    const found = await listFollowed(this.#host, this.#conf);
    // The same object says that nothing has changed.
    const followed = last !== undefined && haveSameFiles(found, last.followed) ? last.followed : found;
    this.#last = { at, followed, looks, isKnown: followed.every((reading) => isKnown(reading, posFiles)) };
    this.#kept.set(this.#last, at);
    return followed;
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

/** An entry whose position is 0 may be that of a file that Fluentd may not read. */
function isKnown({ posFile, files, unknown }: FollowedReading, posFiles: readonly PosFileReading[]): boolean {
  if (unknown !== undefined) return false;
  const reading = posFiles.find(({ path }) => path === posFile);
  const entries = reading?.kind === 'read' ? reading.entries : [];
  const begun = new Set(entries.filter(({ position }) => position !== null && position > 0).map(entryKey));
  return files.every((file) => begun.has(entryKey(file)));
}

/** The files that each source is to read. */
export async function listFollowed(
  host: Pick<Host, 'listFollowed'>,
  conf: Sources,
): Promise<readonly FollowedReading[]> {
  const { sources, hidden } = conf ?? { sources: [], hidden: [] };
  const known = sources.flatMap((source) =>
    source.posFile === undefined ? [] : [followedBy(host, source, source.posFile)],
  );
  const unknown = hidden.map((why) => ({ ...NOT_KNOWN, unknown: why }));
  return [...(await Promise.all(known)), ...unknown];
}

const NOT_KNOWN = { posFile: 'further sources', refreshInterval: 0, byInode: false, files: [] } as const;

async function followedBy(
  host: Pick<Host, 'listFollowed'>,
  source: TailSource,
  posFile: string,
): Promise<FollowedReading> {
  const { refreshInterval, followInodes: byInode } = source;
  const reading = { posFile, refreshInterval, byInode };
  if (source.paths.length === 0) return { ...reading, files: [], unknown: 'its path could not be evaluated' };
  try {
    return { ...reading, files: await host.listFollowed(source) };
  } catch (error) {
    const files = error instanceof PartlyListed ? error.files : [];
    return { ...reading, files, unknown: error instanceof Error ? error.message : String(error) };
  }
}
