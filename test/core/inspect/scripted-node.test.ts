import { expect, test } from 'vitest';
import { inspectionOf } from '../../../src/core/inspect/inspection.ts';
import { Paces } from '../../../src/core/inspect/paces.ts';
import type { FileLook, PosFileReading } from '../../../src/core/look/snapshot.ts';
import { keyedEntries } from '../../../src/core/pos-file/pos-file.ts';
import { Looks } from '../../support/overviews.ts';

const FILES = 30;
const SECONDS = 300;
/** Nothing is read from here to there. */
const OUTAGE = { from: 120, to: 190 };
/** Each log is renamed so often, in the outage once. */
const ROTATED_EVERY = 70;

interface File {
  readonly inode: string;
  size: number;
  /** By the second, how long it was. */
  readonly sizes: [second: number, size: number][];
}

interface Log {
  readonly path: string;
  /** The file of the entry, how far it is read, and the file at the path. */
  followed: File;
  read: number;
  current: File;
}

/** A node whose every byte is known: logs that are written, renamed and read, and an outage. */
class ScriptedNode {
  #inodes = 0;
  readonly #logs: readonly Log[] = Array.from({ length: FILES }, (_, at) => {
    const file = this.#made();
    return { path: `/var/log/${at}.log`, followed: file, read: 0, current: file };
  });
  #readAt = 0;

  /** One second: renaming, writing, then Fluentd, which reads a renamed file to its end and turns to the new one. */
  turn(second: number): void {
    for (const [at, log] of this.#logs.entries()) {
      if (second % ROTATED_EVERY === at) log.current = this.#made();
      log.current.size += 1 + ((second * 7 + at) % 50);
      log.current.sizes.push([second, log.current.size]);
      if (second >= OUTAGE.from && second < OUTAGE.to) continue;
      log.followed = log.current;
      log.read = log.current.size;
      this.#readAt = second;
    }
  }

  look(second: number): {
    readonly posFiles: readonly PosFileReading[];
    readonly looks: Map<string, FileLook>;
  } {
    const entries = keyedEntries(
      '/pos',
      this.#logs.map(({ path, read, followed: { inode } }) => ({ path, position: read, inode })),
    );
    const writtenAgo = (second - this.#readAt) * 1_000;
    const looks = entries.map(({ key }, at): [string, FileLook] => [key, lookAt(this.#logs[at] as Log)]);
    return {
      posFiles: [{ path: '/pos', kind: 'read', entries, unparsable: [], writtenAgo }],
      looks: new Map(looks),
    };
  }

  /** Bytes that Fluentd will still read: of the entry's file, and of what is at its path now. */
  get left(): number {
    return this.#logs.reduce((sum, { followed, read, current }) => {
      return sum + followed.size - read + (current === followed ? 0 : current.size);
    }, 0);
  }

  /** Since when the oldest unread byte of the files that have an entry has been there. */
  lateAt(second: number): number {
    const waits = this.#logs.map(({ followed, read }) => {
      const since = followed.sizes.find(([, size]) => size > read);
      return since === undefined ? 0 : second - since[0];
    });
    return Math.max(...waits);
  }

  #made(): File {
    this.#inodes += 1;
    return { inode: `${this.#inodes}`, size: 0, sizes: [] };
  }
}

function lookAt({ followed, current }: Log): FileLook {
  const atPath = { inode: current.inode, size: current.size };
  return current === followed ? { atPath, newlineLeft: true } : { atPath };
}

test('a live view tells of a scripted node what is true, look by look', () => {
  const node = new ScriptedNode();
  const view = new Looks(new Paces());
  const verdicts: (string | undefined)[] = [];
  let caughtUp = false;
  for (let second = 0; second < SECONDS; second += 1) {
    node.turn(second);
    const told = inspectionOf(view.look(second * 1_000, {}, node.look(second)));
    expect(told.lag, `lag at ${second} s`).toBe(node.left);
    expect(told.lagSeconds, `lateness at ${second} s`).toBeGreaterThanOrEqual(node.lateAt(second));
    expect(told.lagSeconds, `lateness at ${second} s`).toBeLessThanOrEqual(node.lateAt(second) + 1);
    verdicts.push(told.verdict);
    caughtUp = told.caughtUp;
  }
  const between = (from: number, to: number) => new Set(verdicts.slice(from, to));
  expect(between(0, OUTAGE.from)).toEqual(new Set(['ok']));
  expect(between(OUTAGE.from + 12, OUTAGE.from + 20)).toEqual(new Set(['stalled']));
  // Nobody saw that the files were read that were renamed in the outage.
  expect(verdicts.at(-1)).toBe('losing');
  expect(caughtUp).toBe(true);
});
