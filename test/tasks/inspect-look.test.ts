import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/core/drain/defaults.ts';
import { History } from '../../src/core/inspect/history.ts';
import { type InspectedEntry, inspectionOf, whole } from '../../src/core/inspect/inspection.ts';
import { summaryOf } from '../../src/core/inspect/overview.ts';
import { STATES } from '../../src/core/inspect/rows.ts';
import type { Observation, ObservedFile } from '../../src/core/observe/observation.ts';
import { observe } from '../../src/core/observe/observe.ts';
import { Collector } from '../../src/daemon/collect.ts';
import { NodeHost } from '../../src/node/node-host.ts';
import { Inspector } from '../../src/tasks/inspect-look.ts';
import { inspectSubject } from '../../src/tasks/inspect-subject.ts';
import { RUNS } from '../support/arbitraries.ts';
import { ABSENT, LOG, POS, posText, subject } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { inspectedBy } from '../support/inspected-by.ts';
import { LogWorld, POS_FILES, turns } from '../support/log-worlds.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-look-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const text = fc.constantFrom('', 'one\n', 'one\ntwo', 'one\ntwo\n');
const file = fc.record({
  name: fc.constantFrom('a.log', 'b.log'),
  /** What stands at the path, and what was renamed. */
  now: fc.option(text, { nil: undefined }),
  before: fc.option(text, { nil: undefined }),
});
const line = fc.record({
  name: fc.constantFrom('a.log', 'b.log', 'no/a.log'),
  position: fc.constantFrom(0, 2, 4, 7, 8, 9, null),
  inode: fc.constantFrom('now', 'before', '0', '18446744073709551615'),
});

/** The last line is cut off; the first two are one; the paths are symlinks to where files are renamed, as /var/log/containers is full of. */
const how = fc.record({ torn: fc.boolean(), linked: fc.boolean(), merged: fc.boolean() });

test('inspect finds what the daemon finds in the same directory: entries, states, lags, unparsable lines', async () => {
  const host = new NodeHost();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(file), fc.array(line), how, async (files, lines, { torn, linked, merged }) => {
      runs += 1;
      const logs = join(dir, String(runs));
      mkdirSync(logs);
      for (const { name, now, before } of files) {
        if (before !== undefined) writeFileSync(join(logs, `${name}.1`), before);
        if (now !== undefined) writeFileSync(join(logs, name), now);
      }
      const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino ?? 1;
      mkdirSync(join(logs, 'links'));
      for (const { name } of files) linkTo(`../${name}`, join(logs, 'links', name));
      const entries = lines.map(({ name, position, inode }) => {
        const inodes = { now: inodeOf(join(logs, name)), before: inodeOf(join(logs, `${name}.1`)) };
        const path = join(logs, linked ? 'links' : '', name);
        return { path, position, inode: inode === 'now' || inode === 'before' ? inodes[inode] : inode };
      });
      const pos = join(logs, 'app.pos');
      const content = posText(entries) + (torn ? 'torn\n/b\t1' : '');
      const text = merged && entries.length > 1 ? content.replace('\n', '') : content;
      writeFileSync(pos, text);

      const posFiles = [pos];
      const view = { fluentd: ABSENT, depth: 'rest', movedAt: undefined } as const;
      const snapshot = await new Collector(host, subject({ posFiles })).look(view);
      const { files: watched, unknown, readSince } = observe(undefined, snapshot, DEFAULT_POLICY);
      const wanted = await inspectSubject(host, {
        posFiles,
        fluentConf: undefined,
        raw: false,
        root: undefined,
      });
      const found = whole(inspectionOf(await new Inspector(host, wanted).look()));

      expect(found.posFiles[0]?.entries).toEqual(watched.map(shown));
      if (unknown.length === 0 && found.posFiles[0]?.error === undefined)
        expect(found.caughtUp).toBe(readSince !== undefined);
      const unparsable = found.posFiles[0]?.unparsable ?? [];
      const tornLine = torn ? [{ line: text.split('\n').length, text: '/b\t1' }] : [];
      for (const reading of snapshot.posFiles)
        if (reading.kind === 'read')
          expect(unparsable).toEqual([
            ...reading.unparsable.map(({ line, text }) => ({ line, text })),
            ...tornLine,
          ]);
    }),
    RUNS,
  );
});

/** The daemon and a live view, which look at the same world at the same time. */
class Watchers {
  readonly #host: FakeHost;
  readonly #posFiles: readonly string[];
  readonly #inspector: Inspector;
  #seen: Observation | undefined;

  constructor(host: FakeHost, posFiles: readonly string[] = [POS]) {
    this.#host = host;
    this.#posFiles = posFiles;
    this.#inspector = new Inspector(host, inspectedBy(host, posFiles), new History());
  }

  /** One look of each, of which every answer is the same. */
  async agree(): Promise<readonly InspectedEntry[]> {
    const watched = subject({ posFiles: this.#posFiles });
    const view = { fluentd: ABSENT, depth: 'rest', movedAt: undefined } as const;
    const snapshot = await new Collector(this.#host, watched).look(view);
    const seen = observe(this.#seen, snapshot, DEFAULT_POLICY);
    this.#seen = seen;
    const overview = await this.#inspector.look();
    const found = whole(inspectionOf(overview));
    const lags = found.posFiles.flatMap(({ entries }) => entries.map(({ lag }) => lag ?? 0));
    const sizes = found.undiscovered.map(({ size }) => size);
    expect([...lags, ...sizes].reduce((sum, part) => sum + part, 0)).toBe(found.knownLag);
    for (const [index, { path, entries }] of found.posFiles.entries()) {
      const files = seen.files.filter(({ posFile }) => posFile === path);
      const bare = entries.map(({ verdict: _, why: __, ...entry }) => entry);
      expect(bare).toEqual(files.map(shown));
      const unread = files.filter(({ read }) => !read).length;
      expect(overview.posFiles[index]?.entries.totals).toMatchObject({ files: files.length, unread });
    }
    if (seen.unknown.length === 0 && found.posFiles.every(({ error }) => error === undefined))
      expect(found.caughtUp).toBe(seen.readSince !== undefined);
    return found.posFiles.flatMap(({ entries }) => entries);
  }
}

function shown({ path, position, inode, size, lag, state }: ObservedFile): InspectedEntry {
  return { path, position, inode, size, lag, state };
}

describe('from look to look a live view and the daemon agree', () => {
  const followed = (text: string, position: number) => {
    const host = new FakeHost();
    host.writeFile(LOG, text, '7');
    host.writeFile(POS, posText([{ path: LOG, position, inode: 7 }]));
    return { host, watchers: new Watchers(host) };
  };

  test('on a file that is cut short and then removed: what was written since was never read', async () => {
    const { host, watchers } = followed('one\ntwo\n', 8);
    await watchers.agree();
    host.writeFile(LOG, 'new\n', '7');
    expect(await watchers.agree()).toMatchObject([{ state: 'truncated', lag: 4 }]);
    host.files.delete(LOG);
    expect(await watchers.agree()).toMatchObject([{ state: 'missing', lag: null }]);
  });

  test('on half a line that is ended after 15 s: no byte of it could be read before', async () => {
    const { host, watchers } = followed('one\nhalf', 4);
    expect(await watchers.agree()).toMatchObject([{ state: 'partial-line' }]);
    await host.sleep(15_000);
    host.appendLog(LOG, '\n');
    expect(await watchers.agree()).toMatchObject([{ state: 'behind', lag: 5 }]);
    await host.sleep(25_000);
    expect(await watchers.agree()).toMatchObject([{ state: 'blocked', lag: 5 }]);
  });

  test('on an entry that comes back: in the place of another one it is a new one', async () => {
    const { host, watchers } = followed('one\n', 4);
    const agreeOn = async (wait: number, inodes: readonly number[]) => {
      await host.sleep(host.now() + wait);
      host.writeFile(POS, posText(inodes.map((inode) => ({ path: LOG, position: 4, inode }))));
      return await watchers.agree();
    };
    await watchers.agree();
    host.files.delete(LOG);
    await agreeOn(1_000, []);
    expect(await agreeOn(90_000, [7])).toMatchObject([{ state: 'missing', lag: 0 }]);
    await agreeOn(1_000, [7, 8]);
    expect(await agreeOn(1_000, [7])).toMatchObject([{ state: 'missing', lag: null }]);
  });

  test('on whatever becomes of log files and of the lines of pos files', async () => {
    const states = new Set<string | null>();
    await fc.assert(
      fc.asyncProperty(turns, async (turns) => {
        const world = new LogWorld();
        const watchers = new Watchers(world.host, POS_FILES);
        await watchers.agree();
        for (const turn of turns) {
          await world.turn(turn);
          for (const { state } of await watchers.agree()) states.add(state);
        }
      }),
      { ...RUNS, numRuns: 300 },
    );
    expect([...states].sort()).toEqual(STATES.filter((state) => state !== 'undiscovered').toSorted());
  });
});

function linkTo(target: string, path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(target, path);
}

describe('a file that goes away before in_tail has found it', () => {
  const rotate = (host: FakeHost, to: string, text: string) => {
    host.rename(LOG, to);
    host.writeFile(LOG, text, host.newInode());
  };
  const setUp = async () => {
    const host = new FakeHost();
    host.writeFile(LOG, 'one\n', '7');
    host.writeFile(POS, posText([{ path: LOG, position: 4, inode: 7 }]));
    const inspector = new Inspector(host, inspectedBy(host, [POS]), new History());
    await inspector.look();
    rotate(host, `${LOG}.1`, 'two\nthree\n');
    return { host, inspector };
  };

  test('stays told when everything else is read', async () => {
    const { host, inspector } = await setUp();
    expect(await inspector.look()).toMatchObject({ lag: 10, lost: [] });
    rotate(host, `${LOG}.2`, 'four\n');
    expect(await inspector.look()).toMatchObject({ lag: 5, lost: [{ path: LOG, bytes: 10 }] });
    const inode = host.files.get(LOG)?.inode ?? '';
    host.writeFile(POS, posText([{ path: LOG, position: 5, inode }]));
    const found = await inspector.look();
    expect(summaryOf(found)).toBe(`caught up: 1 file; 1 file went away unread, 10 B, first ${LOG}`);
    expect(inspectionOf(found).lost).toEqual([{ path: LOG, size: 10 }]);
  });

  test('is not called lost where in_tail turned to it, or may have between two looks', async () => {
    const { host, inspector } = await setUp();
    await inspector.look();
    const inode = host.files.get(LOG)?.inode ?? '';
    host.writeFile(POS, posText([{ path: LOG, position: 2, inode }]));
    await inspector.look();
    rotate(host, `${LOG}.2`, 'four\n');
    await inspector.look();
    rotate(host, `${LOG}.3`, 'five\n');
    host.writeFile(POS, posText([{ path: LOG, position: 5, inode: host.files.get(LOG)?.inode ?? '' }]));
    expect(await inspector.look()).toMatchObject({ lost: [] });
  });

  test('is not called lost where a later file has got the inode that in_tail had before', async () => {
    const { host, inspector } = await setUp();
    await inspector.look();
    host.files.delete(`${LOG}.1`);
    host.writeFile(LOG, 'four\n', '7');
    host.writeFile(POS, posText([{ path: LOG, position: 5, inode: 7 }]));
    expect(await inspector.look()).toMatchObject({ lost: [] });
  });
});

describe('one look at a log that is being written', () => {
  const inspected = async (during: (host: FakeHost) => void) => {
    const host = new FakeHost();
    host.writeFile(POS, posText([{ path: LOG, position: 4, inode: 7 }]));
    await host.sleep(60_000);
    host.writeFile(LOG, 'one\ntwo\n', '7');
    host.at(61_000, during);
    const found = await new Inspector(host, inspectedBy(host, [POS])).look();
    return { at: host.now(), entries: whole(inspectionOf(found)).posFiles[0]?.entries };
  };

  test('finds it blocked where the pos file has long stood still, and nothing is read in two seconds', async () => {
    expect(await inspected((host) => host.appendLog(LOG, 'three\n'))).toMatchObject({
      at: 62_000,
      entries: [{ state: 'blocked', lag: 10 }],
    });
  });

  test('finds it behind where in_tail has just begun to read again', async () => {
    const read = (host: FakeHost) => host.writeFile(POS, posText([{ path: LOG, position: 6, inode: 7 }]));
    expect(await inspected(read)).toMatchObject({ entries: [{ state: 'behind', lag: 2 }] });
  });
});

test('what is left of a deleted file is known while Fluentd has it open', async () => {
  const [log, pos] = [join(dir, 'deleted.log'), join(dir, 'deleted.pos')];
  writeFileSync(log, 'one\ntwo\n');
  writeFileSync(pos, posText([{ path: log, position: 4, inode: statSync(log).ino }]));
  const files = [log, pos].map((path) => openSync(path, 'r'));
  const fluentd = spawn('sleep', ['60'], {
    argv0: 'fluentd',
    stdio: ['ignore', 'ignore', 'ignore', ...files],
  });
  try {
    rmSync(log);
    const wanted = { posFiles: [pos], fluentConf: undefined, raw: false, root: undefined };
    const host = new NodeHost();
    const look = async () =>
      whole(inspectionOf(await new Inspector(host, await inspectSubject(host, wanted)).look()));
    expect(await look()).toMatchObject({
      posFiles: [{ entries: [{ state: 'missing', size: 8, lag: 4 }] }],
      ...{ lag: 4, unknownFiles: 0 },
    });
    const gone = once(fluentd, 'exit');
    fluentd.kill();
    await gone;
    expect(await look()).toMatchObject({ lag: null, knownLag: 0, unknownFiles: 1 });
  } finally {
    fluentd.kill();
    for (const file of files) closeSync(file);
  }
});
