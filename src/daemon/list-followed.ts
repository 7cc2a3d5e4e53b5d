import type { ConfFacts } from '../core/fluent-conf/facts.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import type { Depth, FollowedFile, FollowedReading, Snapshot } from '../core/look/snapshot.ts';
import type { Millis } from '../core/text/units.ts';
import { type Host, PartlyListed } from '../host.ts';

/** How often new files are looked for at rest. What comes and goes in less time is not seen. */
const LISTING_AGE: Millis = 1_000;
/** The same while no file moves that has an entry. in_tail itself looks once a minute, unless it is told otherwise. */
const IDLE_AGE: Millis = 10_000;

type Sources = Pick<ConfFacts, 'sources' | 'hidden'>;

/** Lists the files that Fluentd is to read; at rest now and then. So the size of a file may be an older one: its look tells the one of now. */
export class FollowedFiles {
  readonly #host: Pick<Host, 'now' | 'listFollowed'>;
  readonly #conf: Sources;
  #listedAt = Number.NEGATIVE_INFINITY;
  #looks: Snapshot['looks'] | undefined;
  #followed: readonly FollowedReading[] = [];

  constructor(host: Pick<Host, 'now' | 'listFollowed'>, conf: Sources | undefined) {
    this.#host = host;
    this.#conf = conf ?? { sources: [], hidden: [] };
  }

  async list(depth: Depth, looks: Snapshot['looks']): Promise<readonly FollowedReading[]> {
    const at = this.#host.now();
    const age = looks === this.#looks ? IDLE_AGE : LISTING_AGE;
    if (depth === 'light' && at - this.#listedAt < age) return this.#followed;
    const listed = await this.#listNow();
    this.#listedAt = at;
    this.#looks = looks;
    // The same object says that nothing has changed.
    if (!haveSameFiles(listed, this.#followed)) this.#followed = listed;
    return this.#followed;
  }

  async #listNow(): Promise<readonly FollowedReading[]> {
    const { sources, hidden } = this.#conf;
    const known: FollowedReading[] = [];
    let alreadyKept = 0;
    // One after the other: they share the memory.
    for (const source of sources) {
      if (source.posFile === undefined) continue;
      const { posFile, refreshInterval, followInodes: byInode } = source;
      const found = await filesOf(this.#host, source, alreadyKept);
      known.push({ posFile, refreshInterval, byInode, ...found });
      alreadyKept += found.files.length;
    }
    const further = { posFile: 'further sources', refreshInterval: 0, byInode: false, files: [] };
    return [...known, ...hidden.map((unknown) => ({ ...further, unknown }))];
  }
}

async function filesOf(
  host: Pick<Host, 'listFollowed'>,
  source: TailSource,
  alreadyKept: number,
): Promise<Pick<FollowedReading, 'files' | 'unknown'>> {
  if (source.paths.length === 0) return { files: [], unknown: 'its path could not be evaluated' };
  try {
    return { files: await host.listFollowed(source, alreadyKept) };
  } catch (error) {
    const files = error instanceof PartlyListed ? error.files : [];
    return { files, unknown: error instanceof Error ? error.message : String(error) };
  }
}

function haveSameFiles(now: readonly FollowedReading[], before: readonly FollowedReading[]): boolean {
  if (now.length !== before.length) return false;
  return now.every(({ files, unknown }, source) => {
    const known = before[source]?.files ?? [];
    const isSame = ({ path, inode, size }: FollowedFile, index: number) =>
      path === known[index]?.path && inode === known[index].inode && size === known[index].size;
    return unknown === before[source]?.unknown && files.length === known.length && files.every(isSame);
  });
}
