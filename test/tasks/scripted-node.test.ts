import { expect, test } from 'vitest';
import { History } from '../../src/core/inspect/history.ts';
import type { Overview } from '../../src/core/inspect/overview.ts';
import { Inspector } from '../../src/tasks/inspect-look.ts';
import { POS, posText } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { confWith, inspectedBy } from '../support/inspected-by.ts';

const FILES = 30;
const SECONDS = 300;
/** Nothing is read from here to there. */
const OUTAGE = { from: 120, to: 190 };
/** Each log is renamed so often; in the outage a second time before in_tail has turned to the first. */
const ROTATED_EVERY = 40;

interface Log {
  readonly path: string;
  inode: string;
  /** By the second, how long the file of the entry was. */
  sizes: Map<number, number>;
  read: number;
}

/** A node whose every byte is known: logs that are written, renamed and read, and an outage. */
class ScriptedNode {
  readonly host = new FakeHost();
  readonly logs: readonly Log[];
  lost = 0;
  #second = 0;

  constructor() {
    this.logs = Array.from({ length: FILES }, (_, at) => {
      const path = `/var/log/${at}.log`;
      this.host.writeFile(path, '', this.host.newInode());
      return { path, inode: this.#inodeAt(path), sizes: new Map(), read: 0 };
    });
    this.#read();
  }

  get isOut(): boolean {
    return this.#second >= OUTAGE.from && this.#second < OUTAGE.to;
  }

  /** One second: renaming, writing, then Fluentd. What is written between a look and a rename, a view cannot see. */
  turn(second: number): void {
    this.#second = second;
    for (const [at, log] of this.logs.entries()) {
      if (second % ROTATED_EVERY === at) this.#rename(log, second);
      this.host.appendLog(log.path, '\n'.repeat(1 + ((second * 7 + at) % 50)));
      log.sizes.set(second, this.#sizeOf(log));
    }
    if (!this.isOut) this.#read();
  }

  /** Bytes that Fluentd will still read: of the entry's file, and of what is at its path now. */
  get left(): number {
    return this.logs.reduce((sum, log) => {
      const isRenamed = this.#inodeAt(log.path) !== log.inode;
      return sum + this.#sizeOf(log) - log.read + (isRenamed ? this.#lengthOf(log.path) : 0);
    }, 0);
  }

  /** How long the oldest of the unread bytes has been there. */
  get late(): number {
    return Math.max(
      0,
      ...this.logs.map((log) => {
        const since = [...log.sizes].find(([, size]) => size > log.read);
        return since === undefined ? 0 : this.#second - since[0];
      }),
    );
  }

  #rename(log: Log, second: number): void {
    const hasEntry = this.#inodeAt(log.path) === log.inode;
    if (!hasEntry) this.lost += this.#lengthOf(log.path);
    this.host.rename(log.path, `${log.path}.${second}`);
    this.host.writeFile(log.path, '', this.host.newInode());
  }

  /** in_tail reads a renamed file to its end, turns to the new one, and reads that. */
  #read(): void {
    for (const log of this.logs) {
      const inode = this.#inodeAt(log.path);
      if (inode !== log.inode) log.sizes = new Map();
      log.inode = inode;
      log.read = this.#lengthOf(log.path);
    }
    const entries = this.logs.map(({ path, read, inode }) => ({ path, position: read, inode }));
    this.host.writeFile(POS, posText(entries));
  }

  #sizeOf({ inode }: Log): number {
    const file = [...this.host.files.values()].find((one) => one.inode === inode);
    return file?.bytes.length ?? 0;
  }

  #lengthOf(path: string): number {
    return this.host.files.get(path)?.bytes.length ?? 0;
  }

  #inodeAt(path: string): string {
    return this.host.files.get(path)?.inode ?? '';
  }
}

test('a live view tells of a scripted node what is true, look by look', async () => {
  const node = new ScriptedNode();
  const inspector = new Inspector(node.host, inspectedBy(node.host, [POS], confWith('block')), new History());
  const verdicts = new Map<number, string | undefined>();
  let last: Overview | undefined;
  for (let second = 0; second < SECONDS; second += 1) {
    node.turn(second);
    last = await inspector.look();
    expect([second, last.lag], `lag at ${second} s`).toEqual([second, node.left]);
    const late = (last.late ?? Number.NaN) / 1_000;
    expect(late, `lateness at ${second} s`).toBeGreaterThanOrEqual(node.late);
    expect(late, `lateness at ${second} s`).toBeLessThanOrEqual(node.late + 1);
    expect(
      last.lost?.reduce((sum, { bytes }) => sum + bytes, 0),
      `lost at ${second} s`,
    ).toBe(node.lost);
    verdicts.set(second, last.verdict?.is);
    await node.host.sleep(node.host.now() + 1_000);
  }
  const between = (from: number, to: number) =>
    new Set([...verdicts].filter(([at]) => at >= from && at < to).map(([, is]) => is));
  expect(between(0, OUTAGE.from)).toEqual(new Set(['ok']));
  expect(between(OUTAGE.from + 12, OUTAGE.from + ROTATED_EVERY)).toEqual(new Set(['stalled']));
  expect(node.lost).toBeGreaterThan(0);
  expect(verdicts.get(SECONDS - 1)).toBe('losing');
  expect(last?.caughtUp).toBe(true);
});
