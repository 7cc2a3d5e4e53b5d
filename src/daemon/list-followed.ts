import type { ConfFacts } from '../core/fluent-conf/facts.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import type { Depth, FollowedFile, FollowedReading, Snapshot } from '../core/look/snapshot.ts';
import type { Millis } from '../core/text/units.ts';
import { type Host, PartlyListed } from '../host.ts';

/** How often new files are looked for at rest. What comes and goes in less time is not seen. */
const LISTING_AGE: Millis = 1_000;
/** The same while no file moves that has an entry. in_tail itself looks once a minute, unless it is told otherwise. */
const IDLE_AGE: Millis = 10_000;

interface Listing extends Pick<Snapshot, 'looks' | 'followed'> {
  readonly at: Millis;
}

type Sources = Pick<ConfFacts, 'sources' | 'hidden'> | undefined;

/** Lists the files that Fluentd is to read; at rest now and then. So the size of a file may be an older one: its look tells the one of now. */
export class FollowedFiles {
  readonly #host: Pick<Host, 'now' | 'listFollowed'>;
  readonly #conf: Sources;
  #last: Listing | undefined;

  constructor(host: Pick<Host, 'now' | 'listFollowed'>, conf: Sources) {
    this.#host = host;
    this.#conf = conf;
  }

  async list(depth: Depth, looks: Snapshot['looks']): Promise<readonly FollowedReading[]> {
    const at = this.#host.now();
    const last = this.#last;
    const age = last?.looks === looks ? IDLE_AGE : LISTING_AGE;
    if (depth === 'rest' && last !== undefined && at - last.at < age) return last.followed;
    const listed = await listFollowed(this.#host, this.#conf);
    // The same object says that nothing has changed.
    const followed = last !== undefined && haveSameFiles(listed, last.followed) ? last.followed : listed;
    this.#last = { at, looks, followed };
    return followed;
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
