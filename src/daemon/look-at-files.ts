import type { TailSource } from '../core/fluent-conf/tail.ts';
import type { Depth, FileLook, FollowedReading, Snapshot } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import { andMore, type Millis } from '../core/text/units.ts';
import type { Followed, Host } from '../host.ts';
import { PosFiles } from './read-pos-files.ts';

/** How often light looks list new files. A listing takes as long as two looks, and in_tail makes one each refresh_interval, by default once a minute. */
const LISTING_AGE: Millis = 30_000;

type Named = Pick<Subject, 'posFiles' | 'conf'>;

/**
 * Looks at the files that Fluentd reads, without Fluentd: pos files, log files, and what in_tail has to find. What has not changed is the
 * same object.
 */
export class Files {
  readonly #host: Host;
  readonly #named: Named;
  readonly #posFiles: PosFiles;
  #listedAt = Number.NEGATIVE_INFINITY;
  #looks: Snapshot['looks'] = new Map();
  #followed: readonly FollowedReading[] = [];

  constructor(host: Host, named: Named) {
    this.#host = host;
    this.#named = named;
    this.#posFiles = new PosFiles(host);
  }

  /** Positions before sizes: then a position that equals a size covers all bytes up to there. */
  async look(depth: Depth): Promise<Pick<Snapshot, 'posFiles' | 'looks' | 'followed'>> {
    const posFiles = await this.#posFiles.read(this.#named.posFiles);
    const entries = posFiles.flatMap((reading) => (reading.kind === 'read' ? reading.entries : []));
    const before = this.#looks;
    const changed = new Map<string, FileLook>();
    await this.#host.lookAt(entries, ({ key }, look) => {
      if (!isSameLook(before.get(key), look)) changed.set(key, look);
    });
    // At rest the old objects stay: new ones would live long, and V8's old generation is costly to clear.
    if (changed.size > 0 || entries.length !== before.size)
      this.#looks =
        changed.size === entries.length
          ? changed
          : new Map(entries.map(({ key }) => [key, changed.get(key) ?? before.get(key) ?? {}]));
    const at = this.#host.now();
    if (depth !== 'light' || at - this.#listedAt >= LISTING_AGE) {
      this.#followed = await this.#list();
      this.#listedAt = at;
    }
    return { posFiles, looks: this.#looks, followed: this.#followed };
  }

  async #list(): Promise<readonly FollowedReading[]> {
    const { sources, hidden } = this.#named.conf ?? { sources: [], hidden: [] };
    const known: FollowedReading[] = [];
    let alreadyKept = 0;
    // Sequential, because they share one memory budget.
    for (const source of sources) {
      if (source.posFile === undefined) continue;
      const { posFile, followInodes: byInode } = source;
      const found = await this.#filesOf(source, alreadyKept);
      known.push({ posFile, byInode, ...found });
      alreadyKept += found.files.length;
    }
    const further = { posFile: 'further sources', byInode: false, files: [] };
    return hidden.length === 0 ? known : [...known, { ...further, unknown: andMore(hidden) }];
  }

  async #filesOf(source: TailSource, alreadyKept: number): Promise<Followed> {
    if (source.paths.length === 0) return { files: [], unknown: 'its path could not be evaluated' };
    return await this.#host.listFollowed(source, alreadyKept);
  }
}

/** Ignores `writtenAgo`, which always changes. */
function isSameLook(before: FileLook | undefined, { atPath, newlineLeft, error }: FileLook): boolean {
  const isSameFile = before?.atPath?.inode === atPath?.inode && before?.atPath?.size === atPath?.size;
  return before !== undefined && isSameFile && before.newlineLeft === newlineLeft && before.error === error;
}
