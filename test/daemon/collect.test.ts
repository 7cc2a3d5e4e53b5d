import { describe, expect, test } from 'vitest';
import type { TailSource } from '../../src/core/fluent-conf/tail.ts';
import type { FileLook, PosFileReading } from '../../src/core/look/snapshot.ts';
import { entryKeyIn, keyedEntries } from '../../src/core/pos-file/pos-file.ts';
import { Collector, type View } from '../../src/daemon/collect.ts';
import { LogFileLooks } from '../../src/daemon/look-at-files.ts';
import {
  ABSENT,
  confOf,
  entry,
  fileOf,
  LOG,
  POS,
  posText,
  seen,
  snapshot,
  subject,
} from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

test('the file of every entry is looked at', async () => {
  const host = new FakeHost();
  host.writeFile(LOG, '12345\nmore\n', '7');
  expect(await lookAt(host, { position: 6, inode: '7' })).toMatchObject({
    atPath: { inode: '7', size: 11 },
    newlineLeft: true,
  });
});

test('a log file that two pos files have an entry for is looked at for each of them', async () => {
  const host = new FakeHost();
  host.writeFile(LOG, 'one\ntwo', '7');
  const reading = (path: string, position: number): PosFileReading => {
    const entries = [{ path: LOG, position, inode: '7' }];
    return { path, kind: 'read', entries: keyedEntries(path, entries), unparsable: [], writtenAgo: 0 };
  };
  const looks = await new LogFileLooks(host).look(
    [reading('/pos/a', 0), reading('/pos/b', 4)],
    () => undefined,
  );
  const newlineLeft = (posFile: string) =>
    looks.get(entryKeyIn(posFile, { path: LOG, inode: '7' }))?.newlineLeft;
  expect([newlineLeft('/pos/a'), newlineLeft('/pos/b')]).toEqual([true, false]);
});

test('a directory that may not be listed keeps no look from the other files', async () => {
  const host = new FakeHost();
  host.broken.set('/closed', 'EACCES: permission denied, scandir');
  host.writeFile(LOG, '', '7');
  const looks = await looksAt(host, [
    { path: '/closed/app.log', position: 0, inode: '9' },
    { path: LOG, position: 0, inode: '7' },
  ]);
  expect(looks.size).toBe(2);
});

test('a log file that may not be read keeps its size in the look', async () => {
  const host = new FakeHost();
  host.writeFile(LOG, '12345\nmore\n', '7');
  host.broken.set(LOG, 'EACCES: permission denied, open');
  expect(await lookAt(host, { position: 6, inode: '7' })).toMatchObject({ atPath: { inode: '7', size: 11 } });
});

test('a look is dated, and holds fluentd and the requests so far', async () => {
  const host = new FakeHost();
  host.writeFile(POS, posText([]));
  await host.sleep(2_000);
  host.request('SIGINT');
  expect(
    await new Collector(host, subject()).look({ fluentd: ABSENT, depth: 'rest', movedAt: undefined }),
  ).toEqual({
    at: 2_000,
    posFiles: [{ path: POS, kind: 'empty' }],
    looks: new Map(),
    gone: new Map(),
    opened: new Set(),
    depth: 'rest',
    followed: [],
    closed: new Set(),
    unsure: new Set(),
    buffers: expect.objectContaining({ outputs: [], asked: true }),
    fluentd: ABSENT,
    requests: [{ by: 'SIGINT', at: 2_000 }],
  });
});

type At = { readonly path?: string; readonly position: number | null; readonly inode: string };

async function looksAt(host: FakeHost, entries: readonly At[]): Promise<ReadonlyMap<string, FileLook>> {
  const whole = keyedEntries(
    POS,
    entries.map((entry) => ({ path: LOG, ...entry })),
  );
  const posFile: PosFileReading = { path: POS, kind: 'read', entries: whole, unparsable: [], writtenAgo: 0 };
  return new LogFileLooks(host).look([posFile], () => undefined);
}

async function lookAt(host: FakeHost, entry: At): Promise<FileLook | undefined> {
  return (await looksAt(host, [entry])).get(entryKeyIn(POS, { path: LOG, ...entry }));
}

describe('monitor_agent in another container', () => {
  const AGENT = { bind: '127.0.0.1', port: 24_220, worker: 0 };
  const remote = { kind: 'remote', permitted: true } as const;
  const limit = { readBytesLimitPerSecond: 8_192 };
  const away = seen([
    snapshot(0, [[entry({ position: 5 }), fileOf(entry({ position: 5 }), 9)]]),
    snapshot(1_000, [[entry({ position: 5 }), {}]]),
  ]).memory.gone;

  /** How often it was asked in five looks at rest, one a second. */
  async function asked(view: Partial<View>, changes: Partial<TailSource> = limit) {
    const host = new FakeHost();
    host.writeFile(POS, posText([]));
    let times = 0;
    host.servers.set('127.0.0.1:24220', (path) => {
      times += path === '/api/config.json' ? 1 : 0;
      return '{"pid":9,"ppid":8,"plugins":[]}';
    });
    const { sources, ...conf } = confOf([LOG]);
    const changed = sources.map((source) => ({ ...source, ...changes }));
    const facts = { ...conf, sources: changed, monitorAgents: [AGENT] };
    const collector = new Collector(host, subject({ conf: facts }));
    for (let look = 0; look < 5; look += 1) {
      await collector.look({ fluentd: remote, depth: 'rest', movedAt: undefined, ...view });
      await host.sleep(host.now() + 1_000);
    }
    return times;
  }

  test('is asked each second while in_tail reads the rest of a renamed file below a limit', async () => {
    expect(await asked({ gone: away })).toBe(5);
    expect(await asked({ gone: away }, {})).toBe(1);
    expect(await asked({ gone: away, fluentd: ABSENT })).toBe(1);
    expect(await asked({ gone: new Map() })).toBe(1);
  });

  test.each(['isClosed', 'isOver'])(
    'is asked each ten seconds where none is read any more: %s',
    async (over) => {
      expect(
        await asked({ gone: new Map([...away].map(([key, gone]) => [key, { ...gone, [over]: true }])) }),
      ).toBe(1);
    },
  );

  test('is asked each ten seconds where nothing was left of it', async () => {
    expect(await asked({ gone: new Map([...away].map(([key, gone]) => [key, { ...gone, rest: 0 }])) })).toBe(
      1,
    );
  });
});
