import { firstNot, groupedBy } from '../text/lists.ts';
import type { Millis } from '../text/units.ts';
import type { FileReport, Report, WorkerReport } from './answer.ts';

interface Entry extends Pick<FileReport, 'at' | 'identity' | 'position' | 'print'> {
  /** The furthest position at or after `at`. */
  readonly furthest: number;
}

export type Reached = Pick<FileReport, 'at' | 'position'>;

/** By file and input, what workers saw of it, the last first. A worker may read on, or find the file truncated. */
export class FileHistory {
  readonly #byKey: ReadonlyMap<string, readonly Entry[]>;
  readonly #followed: ReadonlySet<string>;
  /** By the file's identity, the last position of the slowest input, and when that was. */
  readonly reached: ReadonlyMap<string, Reached>;

  constructor(workers: readonly WorkerReport[]) {
    this.#followed = new Set(workers.flatMap(({ report }) => report.files.map(({ key }) => key)));
    const files = workers.flatMap(({ report }) => [...report.closed, ...report.files]);
    const byKey = groupedBy(files, ({ key }) => key);
    this.#byKey = new Map([...byKey].map(([key, group]) => [key, lastFirst(group)]));
    const reached = new Map<string, Reached>();
    for (const [last] of this.#byKey.values())
      if (last && last.position <= (reached.get(last.identity)?.position ?? last.position))
        reached.set(last.identity, last);
    this.reached = reached;
  }

  isFollowed(key: string): boolean {
    return this.#followed.has(key);
  }

  /** The furthest position at or after a time; undefined: no worker followed the file then. */
  reachedSince(key: string, at: Millis): number | undefined {
    const history = this.#byKey.get(key) ?? [];
    return history[firstNot(history, (one) => one.at >= at) - 1]?.furthest;
  }

  /** Whether a worker has read these very bytes, all of them, by their fingerprint. */
  hasRead({ key, size, print }: Report['unfound'][number]): boolean {
    const isSame = (one: Entry) => one.print === print && one.position === size;
    return print !== undefined && this.#byKey.get(key)?.some(isSame) === true;
  }
}

function lastFirst(files: readonly FileReport[]): readonly Entry[] {
  let furthest = Number.NEGATIVE_INFINITY;
  const sorted = files.toSorted((one, other) => one.at - other.at).reverse();
  return sorted.map(({ at, identity, position, print }) => {
    furthest = Math.max(furthest, position);
    return { at, identity, position, print, furthest };
  });
}
