import { readFileSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { Inspection } from '../../src/index.ts';
import { type ContainerFile, ContainerNode, sizeOf } from '../support/container-node.ts';
import { makeWorkDir, memoryBuffer, renderConf, tail, toHttp } from '../support/fluentd-conf.ts';
import { HttpSink } from '../support/http-sink.ts';
import { posidle, startPosidle } from '../support/posidle.ts';
import { requireFluentd, startFluentd, TESTED_VERSIONS } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

/** What a full buffer does to in_tail: it waits, or goes on with its files and tries again. */
const NODES = TESTED_VERSIONS.filter((version) => version !== '1.14.6').flatMap((version) => [
  { version, byInode: false, overflow: 'block' },
  { version, byInode: true, overflow: 'throw_exception' },
]);
const CONTAINERS = Array.from({ length: 20 }, (_, at) => `pod-${at}`);
/** A look takes longer than the ten seconds after which a file counts as blocked, where the machine is slow. */
const SURELY_BLOCKED = 14_000;
const SURELY_NOT_BLOCKED = 8_000;
/** So long a file must stand still to count as held up, and a little. */
const HELD_UP = 2_200;
/** In the outage. A file that is renamed while a full buffer holds in_tail up may be told, though in_tail reads the rest in time. */
const RENAMED = ['pod-0', 'pod-3', 'pod-12'];

/** Path and bytes. */
type Lost = NonNullable<Inspection['lost']>;
type Losses = readonly (readonly [string, number])[];

test.concurrent.for(NODES)(
  'inspect is right about a node, look by look: Fluentd $version, follow_inodes $byInode',
  {
    timeout: 300_000,
    // On a busy machine a file may change between a look and what the test reads itself. `.ci/run` names each try that was wrong.
    retry: 1,
  },
  async ({ version, byInode, overflow }, context) => {
    requireFluentd(version, context);
    const work = makeWorkDir('node');
    const conf = `${work.dir}/fluent.conf`;
    const sink = await HttpSink.start();
    const node = new ContainerNode(work.dir);
    for (const name of CONTAINERS) node.start(name);
    await node.write(10);
    const often = { refresh_interval: 1, rotate_wait: 2, follow_inodes: byInode };
    const small = { chunk_limit_size: '16k', total_limit_size: '64k', overflow_action: overflow };
    const retry = {
      flush_interval: '200ms',
      retry_wait: '1s',
      retry_max_interval: '1s',
      retry_forever: true,
    };
    const sections = [
      tail(`${node.links}/*.log`, work.pos, often),
      toHttp(sink.port, memoryBuffer({ ...small, ...retry })),
    ];
    const fluentd = startFluentd({ version, dir: work.dir, conf: renderConf(sections) });
    await fluentd.ready;
    const follow = startPosidle(['inspect', '-c', conf, '--follow', '--json', '--interval', '200ms']);
    const truth = new Truth(node, work.pos);
    const look = async () => {
      const before = truth.positions();
      const { stdout } = await posidle('inspect', '-c', conf, '--json');
      expect(truth.problems(JSON.parse(stdout), before)).toEqual([]);
    };
    const followed = () => follow.stdout().split('\n').slice(0, -1).map(parsed);
    const seen = () => followed().at(-1);
    const verdicts = () => new Set(followed().map(({ verdict }) => verdict));
    // Each look finds a line more: one that finds none is not printed.
    const looksAfter = async (span: number) => {
      const end = Date.now() + span;
      let count = 0;
      const isLater = async () => {
        await node.write(1, ['pod-19']);
        const now = follow.stdout().split('\n').length;
        if (Date.now() < end) count = now;
        return now >= count + 2 && Date.now() >= end;
      };
      await until(`looks after ${span} ms`, isLater, { every: 300 });
    };
    try {
      await until('the first look', seen);
      for (const turn of [0, 1, 2]) {
        await node.write(10);
        node.rotate(`pod-${turn}`);
        if (turn === 1) node.end('pod-10');
        if (turn === 1) node.start('late');
        await look();
      }
      await until('all is read', () => seen()?.caughtUp);
      expect(verdicts()).not.toContain('losing');

      sink.phase = 'refusing';
      const outage = Date.now();
      await node.write(100);
      await look();
      // What goes away sooner may have been read just before.
      await looksAfter(HELD_UP);
      node.rotate(...RENAMED);
      node.end('pod-4', 'pod-5');
      node.start('in-outage');
      await node.write(10);
      await look();
      const size = 1_000;
      await until('the new files are seen', () => {
        const waiting = seen()?.undiscovered.filter((file) => file.size === size) ?? [];
        const opened = [...truth.positions()].filter(([, { position }]) => position === 0);
        return waiting.length + opened.length >= 4;
      });
      await looksAfter(HELD_UP);
      node.rotate('pod-0', 'pod-12');
      await until('it is told', () => verdicts().has('stalled') || verdicts().has('losing'));
      await sleep(Math.max(0, outage + SURELY_BLOCKED - Date.now()));
      await look();

      sink.phase = 'up';
      await look();
      const told = () => ({
        caughtUp: seen()?.caughtUp,
        ...compared(seen()?.lost ?? [], undelivered(node, sink), overflow === 'block' ? [] : goneIn(node)),
      });
      const right = { caughtUp: true, untold: [], unknown: [] };
      const isRight = () => isDeepStrictEqual(told(), right);
      await until('all else is delivered', isRight, { within: 60_000, every: 500 }).catch(() => {});
      if (!isRight()) context.task.meta.log = storyOf(followed(), [...told().untold, ...told().unknown]);
      expect(told()).toEqual(right);
      expect(seen()?.verdict).toBe('losing');
      await look();
    } finally {
      follow.kill('SIGTERM');
      fluentd.kill();
      await fluentd.exited;
      await sink.stop();
      node.close();
      rmSync(work.dir, { recursive: true, force: true });
    }
  },
);

type Entry = Inspection['posFiles'][number]['entries'][number];

interface Position {
  /** null: unwatched. */
  readonly position: number | null;
  readonly path: string;
}

/** What the files themselves and the pos file, read as simply as can be, say of a node. */
class Truth {
  readonly #node: ContainerNode;
  readonly #posFile: string;
  /** By path and inode, since when it has been where it is, as far as this has looked. */
  readonly #since = new Map<
    string,
    { readonly position: number | null; readonly at: number; readonly hasMoved: boolean }
  >();

  constructor(node: ContainerNode, posFile: string) {
    this.#node = node;
    this.#posFile = posFile;
  }

  positions(): ReadonlyMap<string, Position> {
    const lines = readFileSync(this.#posFile, 'latin1').split('\n').slice(0, -1);
    const all = new Map(lines.map(positionIn));
    for (const [key, { position }] of all) {
      const known = this.#since.get(key);
      if (known?.position !== position)
        this.#since.set(key, { position, at: Date.now(), hasMoved: known !== undefined });
    }
    return all;
  }

  /** What an inspection that was taken between `before` and now says otherwise. */
  problems(
    { posFiles, undiscovered, lag, knownLag, unknownFiles, caughtUp }: Inspection,
    before: ReadonlyMap<string, Position>,
  ): readonly string[] {
    const entries = posFiles.flatMap((posFile) => posFile.entries);
    const after = this.positions();
    const sum = [...entries.map((entry) => entry.lag ?? 0), ...undiscovered.map(({ size }) => size)].reduce(
      (a, b) => a + b,
      0,
    );
    const unknown = entries.filter((entry) => entry.lag === null).length;
    const expected = {
      lag: unknown > 0 ? null : sum,
      knownLag: sum,
      unknownFiles: unknown,
      // A renamed file whose successor in_tail has not opened is not over, though it was read to its end.
      caughtUp: sum + unknown === 0 && (caughtUp || !entries.some(({ state }) => state === 'rotated')),
    };
    const told = { lag, knownLag, unknownFiles, caughtUp };
    return [
      ...(JSON.stringify(told) === JSON.stringify(expected)
        ? []
        : [`${JSON.stringify(told)} is not ${JSON.stringify(expected)}`]),
      ...entries.flatMap((entry) => this.#problemsOf(entry, before, after)),
      ...this.#hidden(entries, before, after),
      ...undiscovered
        .filter(({ path, size }) => sizeAt(this.#node, path) !== size)
        .map(({ path }) => `the size of ${path}`),
      ...this.#node.current
        .filter((file) => !isTold(file, undiscovered, before, after))
        .map((file) => `whether ${file.path} is undiscovered`),
    ];
  }

  #problemsOf(
    entry: Entry,
    before: ReadonlyMap<string, Position>,
    after: ReadonlyMap<string, Position>,
  ): readonly string[] {
    const { inode, position, size, lag, state } = entry;
    // in_tail unwatches a file that it has never opened (fluentd#4172).
    if (position === null) return lag === 0 && state === 'unwatched' ? [] : [JSON.stringify(entry)];
    const key = keyOf(entry);
    const file = this.#node.files.find((one) => keyOf(one) === key);
    if (file === undefined) return inode === '0' ? [] : [`no such file: ${key}`];
    const low = before.get(key)?.position ?? 0;
    const high = after.get(key)?.position ?? Number.POSITIVE_INFINITY;
    const isSized =
      size === null ? file.isDeleted && lag === null : size === sizeOf(file) && lag === size - position;
    const isRight = position >= low && position <= high && isSized && this.#isState(entry, file);
    return isRight
      ? []
      : [
          `${JSON.stringify(entry)}: position ${low}–${high}, size ${sizeOf(file)}, deleted ${file.isDeleted}`,
        ];
  }

  #isState(entry: Entry, file: ContainerFile): boolean {
    const { path, position, state } = entry;
    const now = this.#node.at(path);
    if (now !== file) return state === (now === undefined ? 'missing' : 'rotated');
    if (position === sizeOf(file)) return state === 'caught-up';
    const still = this.#since.get(keyOf(entry));
    // It has moved since it was looked at: how long it had stood then is not known any more.
    if (still?.position !== position) return state === 'behind' || state === 'blocked';
    const span = Date.now() - still.at;
    const isBlocked = span > SURELY_BLOCKED && Date.now() - statSync(this.#posFile).mtimeMs > SURELY_BLOCKED;
    const isNot = still.hasMoved && span < SURELY_NOT_BLOCKED;
    return (state === 'behind' && !isBlocked) || (state === 'blocked' && !isNot);
  }

  /** Entries that are not told; another one of the same path may count in place of one that is over. */
  #hidden(
    entries: readonly Entry[],
    before: ReadonlyMap<string, Position>,
    after: ReadonlyMap<string, Position>,
  ): readonly string[] {
    const told = new Set(entries.map(keyOf));
    return [...before.keys()].filter((key) => {
      const now = after.get(key);
      if (now === undefined || told.has(key)) return false;
      const isOver =
        now.position === null || this.#node.files.some((file) => keyOf(file) === key && file.isDeleted);
      return !(isOver && entries.some(({ path }) => path === now.path));
    });
  }
}

function positionIn(line: string): [string, Position] {
  const [path = '', position = '', inode = ''] = line.split('\t');
  const at = position === 'f'.repeat(16) ? null : Number(`0x${position}`);
  return [keyOf({ path, inode: String(BigInt(`0x${inode}`)) }), { position: at, path }];
}

function keyOf({ path, inode }: Pick<ContainerFile, 'path' | 'inode'>): string {
  return `${path} ${inode}`;
}

function sizeAt(node: ContainerNode, path: string): number | undefined {
  const file = node.at(path);
  return file && sizeOf(file);
}

/** A file without an entry is undiscovered. */
function isTold(
  file: ContainerFile,
  undiscovered: Inspection['undiscovered'],
  before: ReadonlyMap<string, Position>,
  after: ReadonlyMap<string, Position>,
): boolean {
  const isListed = undiscovered.some(({ path }) => path === file.path);
  const had = before.has(keyOf(file));
  const has = after.has(keyOf(file));
  return isListed ? !had : has || sizeOf(file) === 0;
}

function goneIn(node: ContainerNode): readonly string[] {
  return node.files.filter((file) => !node.current.includes(file)).map(({ path }) => path);
}

/** Bytes by path, of files that nobody reads any more. */
function undelivered(node: ContainerNode, { tally }: HttpSink): Losses {
  const files = node.files.filter((file) => !node.current.includes(file));
  return summedUp(files.map(({ path, ids }) => [path, 100 * ids.filter((id) => !tally.has(id)).length]));
}

/**
 * Losses that nobody told, and files that lost nothing and were told. What is unproven may be either, where a full buffer does not
 * make in_tail wait; but it is gone.
 */
function compared(lost: Lost, undelivered: Losses, mayBeUnproven: readonly string[]) {
  const bytes = new Map(summedUp(lost.map(({ path, size }) => [path, size])));
  const [proven, unproven] = [false, true].map((is) =>
    summedUp(lost.flatMap((file) => ((file.unproven ?? false) === is ? [[file.path, file.size]] : []))),
  ) as [Losses, Losses];
  const isKnown = (path: string) =>
    undelivered.some(([lost]) => lost === path) ||
    RENAMED.some((name) => basename(path).startsWith(`${name}_`));
  return {
    untold: undelivered.filter(([path, lost]) => (bytes.get(path) ?? 0) < lost),
    unknown: [
      ...proven.filter(([path]) => !isKnown(path)),
      ...unproven.filter(([path]) => !mayBeUnproven.includes(path)),
    ],
  };
}

/** How the view saw these files until it was wrong about them; and how many others moved. */
function storyOf(looks: readonly Inspection[], wrong: Losses): string {
  const paths = new Set(wrong.map(([path]) => path));
  let before = new Map<string, number | null>();
  const story = looks.map(({ posFiles, lost }, at) => {
    const entries = posFiles.flatMap((posFile) => posFile.entries);
    const now = new Map(entries.map((entry) => [keyOf(entry), entry.position]));
    const moved = [...now].filter(([key, position]) => before.get(key) !== position).length;
    before = now;
    const of = entries
      .filter(({ path }) => paths.has(path))
      .map(
        ({ path, inode, position, state, lag }) =>
          `${basename(path).slice(0, 6)} ${inode.slice(-3)} ${position} ${state} ${lag}`,
      );
    return `${at}: ${moved} moved, ${lost?.length ?? 0} lost; ${of.join(', ')}`;
  });
  return story
    .filter((line, at) => line.replace(/^\d+/, '') !== story[at - 1]?.replace(/^\d+/, ''))
    .join('\n');
}

function summedUp(files: Losses): Losses {
  const sums = new Map<string, number>();
  for (const [path, bytes] of files) if (bytes > 0) sums.set(path, (sums.get(path) ?? 0) + bytes);
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function parsed(line: string): Inspection {
  return JSON.parse(line) as Inspection;
}
