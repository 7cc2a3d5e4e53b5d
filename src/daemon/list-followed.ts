import type { FluentConf } from '../core/fluent-conf/fluent-conf.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import type { Depth, FollowedFile, FollowedReading, Snapshot } from '../core/look/snapshot.ts';
import { andMore, type Millis } from '../core/text/units.ts';
import { type Host, PartlyListed } from '../host.ts';

/** How often light looks list new files. posidle misses files that come and go in less time. */
const LISTING_AGE: Millis = 1_000;
/** The same while no known file changes. in_tail itself looks every refresh_interval, by default once a minute. */
const IDLE_AGE: Millis = 10_000;

type Sources = Pick<FluentConf, 'sources' | 'hidden'>;

/** Lists the files that Fluentd must read. Light looks reuse the last list, so its sizes may be old. */
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
    // The same object means that nothing has changed.
    if (!haveSameFiles(listed, this.#followed)) this.#followed = listed;
    return this.#followed;
  }

  async #listNow(): Promise<readonly FollowedReading[]> {
    const { sources, hidden } = this.#conf;
    const known: FollowedReading[] = [];
    let alreadyKept = 0;
    // Sequential, because they share one memory budget.
    for (const source of sources) {
      if (source.posFile === undefined) continue;
      const { posFile, followInodes: byInode } = source;
      const found = await filesOf(this.#host, source, alreadyKept);
      known.push({ posFile, byInode, ...found });
      alreadyKept += found.files.length;
    }
    const further = { posFile: 'further sources', byInode: false, files: [] };
    return hidden.length === 0 ? known : [...known, { ...further, unknown: andMore(hidden) }];
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
