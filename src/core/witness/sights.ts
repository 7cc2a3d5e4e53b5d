import type { Millis } from '../text/units.ts';
import type { FileSight } from './answer.ts';
import type { Statement } from './doubts-of-files.ts';

/** By file and input, what workers saw of it. A later sight of a file replaces an earlier one: a worker may read on, or find it truncated. */
export class Sights {
  readonly #byKey = new Map<string, FileSight[]>();
  readonly #followed: ReadonlySet<string>;

  constructor(statements: readonly Statement[]) {
    this.#followed = new Set(statements.flatMap(({ said }) => said.files.map(({ key }) => key)));
    for (const { said } of statements)
      for (const file of [...said.closed, ...said.files])
        this.#byKey.set(file.key, [...(this.#byKey.get(file.key) ?? []), file]);
  }

  isFollowed(key: string): boolean {
    return this.#followed.has(key);
  }

  /** The furthest position at or after a time; undefined: no worker followed the file then. */
  reachedSince(key: string, at: Millis): number | undefined {
    const later = (this.#byKey.get(key) ?? []).filter((file) => file.at >= at);
    return later.length === 0 ? undefined : furthest(later);
  }

  /** By inode, the last position of the slowest input. */
  byInode(): ReadonlyMap<string, number> {
    const behind = new Map<string, number>();
    for (const files of this.#byKey.values()) {
      const last = files.reduce((one, other) => (other.at >= one.at ? other : one));
      behind.set(last.inode, Math.min(last.position, behind.get(last.inode) ?? last.position));
    }
    return behind;
  }

  /** The bytes that were read, all in all. */
  sum(): number {
    return [...this.#byKey.values()].reduce((sum, files) => sum + furthest(files), 0);
  }
}

function furthest(files: readonly FileSight[]): number {
  return Math.max(...files.map(({ position }) => position));
}
