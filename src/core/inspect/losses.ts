import { isUnfound, summedUp } from '../observe/abandoned.ts';
import { AT_ITS_PATH } from '../observe/gone-now.ts';
import type { Abandoned, Awaited } from '../observe/observation.ts';
import { copied } from '../pos-file/entry-rows.ts';
import type { Millis } from '../text/units.ts';
import { isSeen, type Overview } from './overview.ts';

interface Waiting extends Omit<Awaited, 'posFile'> {
  readonly since: Millis;
}

/** An inode that no file has: a live view looks seldom, and in_tail may have read the file before its path's entry changed or went. */
const OTHER = 'another';

/** What a live view has seen go away before in_tail had read it. */
export class Losses {
  /** By inode, as of the last look. */
  #awaited: ReadonlyMap<string, Waiting> = new Map();
  #at: Millis = 0;
  readonly #lost = new Map<string, Abandoned>();

  /** All that was lost so far. */
  look(found: Pick<Overview, 'posFiles' | 'undiscovered' | 'unlisted'>, at: Millis): readonly Abandoned[] {
    this.#at = at;
    if (isSeen(found)) this.#compare(found);
    return [...summedUp(this.#lost, new Set()).values()];
  }

  /** What in_tail let go of. */
  tell(key: string, { path, bytes, unproven }: Abandoned): void {
    this.#lost.set(copied(key), { path: copied(path), bytes, ...(unproven && { unproven }) });
  }

  /** For how long a file has waited to be found. */
  waited(inode: string): Millis {
    return this.#at - (this.#awaited.get(inode)?.since ?? this.#at);
  }

  #compare({ posFiles, undiscovered }: Pick<Overview, 'posFiles' | 'undiscovered'>): void {
    const now = new Map(undiscovered.map((file) => [file.inode, file]));
    const left = [...this.#awaited].filter(([inode, { size }]) => (now.get(inode)?.size ?? 0) < size);
    const come = undiscovered.filter(({ inode, size }) => size > 0 && !this.#awaited.has(inode));
    const paths = new Set([...left.map(([, { path }]) => path), ...come.map(({ path }) => path)]);
    const { inodeAt, here } = entriesOf(posFiles, paths);
    const opened = left.length === 0 ? new Set<string>() : inodesOf(posFiles);
    const world = {
      sizeOf: (inode: string) => now.get(inode)?.size,
      isOpened: (inode: string) => opened.has(inode),
      // A file that is back at its path is another one with the same inode, or in_tail reads on in it.
      inodeAt: (path: string) => (here.has(path) ? OTHER : (inodeAt.get(path) ?? OTHER)),
    };
    for (const [inode, file] of left)
      if (isUnfound(inode, file, world)) this.tell(inode, { path: file.path, bytes: file.size });
    this.#await(now, inodeAt);
  }

  #await(
    now: ReadonlyMap<string, { readonly path: string; readonly size: number }>,
    inodeAt: ReadonlyMap<string, string>,
  ): void {
    const waiting = [...now].filter(([, { size }]) => size > 0);
    this.#awaited = new Map(
      waiting.map(([inode, { path, size }]) => {
        const known = this.#awaited.get(inode);
        const before = known === undefined ? inodeAt.get(path) : known.before;
        return [inode, { path, size, before, since: known?.since ?? this.#at }];
      }),
    );
  }
}

/** The inode in the last entry of each of these paths; `here`: its file stands there. */
function entriesOf(posFiles: Overview['posFiles'], paths: ReadonlySet<string>) {
  const inodeAt = new Map<string, string>();
  const here = new Set<string>();
  if (paths.size === 0) return { inodeAt, here };
  for (const { entries } of posFiles)
    for (const { row, path, inode } of entries.rows.latest()) {
      if (!paths.has(path)) continue;
      inodeAt.set(path, inode);
      if (AT_ITS_PATH.has(entries.state(row) ?? 'missing')) here.add(path);
    }
  return { inodeAt, here };
}

function inodesOf(posFiles: Overview['posFiles']): ReadonlySet<string> {
  return new Set(posFiles.flatMap(({ entries }) => Array.from(entries.rows.latest(), ({ inode }) => inode)));
}
