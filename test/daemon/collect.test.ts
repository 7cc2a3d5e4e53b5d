import { describe, expect, test } from 'vitest';
import type { FileLook } from '../../src/core/look/snapshot.ts';
import { entryKeyIn, type PositionEntry } from '../../src/core/pos-file/pos-file.ts';
import { Collector } from '../../src/daemon/collect.ts';
import { Files } from '../../src/daemon/look-at-files.ts';
import { ABSENT, LOG, POS, posText, subject } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { alive } from '../support/witnesses.ts';

test('the file of every entry is looked at; one that may not be read keeps its size', async () => {
  const host = new FakeHost();
  host.writeFile(LOG, '12345\nmore\n', '7');
  const atPath = { inode: '7', size: 11 };
  const looked = async () => (await looksAt(host, [{ path: LOG, position: 6, inode: '7' }]))[0];
  expect(await looked()).toMatchObject({ atPath, newlineLeft: true });
  host.broken.set(LOG, 'EACCES: permission denied, open');
  expect(await looked()).toMatchObject({ atPath });
});

test('a log file that two pos files have an entry for is looked at for each of them', async () => {
  const host = new FakeHost();
  host.writeFile(LOG, 'one\ntwo', '7');
  for (const [name, position] of [
    ['a', 0],
    ['b', 4],
  ] as const)
    host.writeFile(`/pos/${name}`, posText([{ path: LOG, position, inode: 7 }]));
  const { looks } = await new Files(host, { posFiles: ['/pos/a', '/pos/b'], conf: undefined }).look('all');
  const newlineLeft = (posFile: string) =>
    looks.get(entryKeyIn(posFile, { path: LOG, inode: '7' }))?.newlineLeft;
  expect([newlineLeft('/pos/a'), newlineLeft('/pos/b')]).toEqual([true, false]);
});

test('looks that find the same are the same object, and another size makes another one', async () => {
  const host = new FakeHost();
  host.writeFile(LOG, 'one\n', '7');
  host.writeFile(POS, posText([{ path: LOG, position: 4, inode: 7 }]));
  const files = new Files(host, { posFiles: [POS], conf: undefined });
  const { looks } = await files.look('light');
  expect((await files.look('light')).looks).toBe(looks);
  host.appendLog(LOG, 'two\n');
  expect((await files.look('light')).looks).not.toBe(looks);
});

test('an unlistable directory does not keep posidle from the other files', async () => {
  const host = new FakeHost();
  host.broken.set('/closed', 'EACCES: permission denied, scandir');
  host.writeFile(LOG, '', '7');
  const looks = await looksAt(host, [
    { path: '/closed/app.log', position: 0, inode: '9' },
    { path: LOG, position: 0, inode: '7' },
  ]);
  expect(looks).toHaveLength(2);
});

const LOOK = { fluentd: ABSENT, sign: 'unknown', question: 'look' } as const;
const LISTENING = { ...LOOK, sign: 'listening' } as const;

test('a look is dated, and holds fluentd and the requests so far', async () => {
  const host = new FakeHost();
  host.writeFile(POS, posText([]));
  await host.sleep(2_000);
  host.request('SIGINT');
  expect(await new Collector(host, subject()).look('light', LOOK)).toEqual({
    lookedAt: 2_000,
    at: 2_000,
    posFiles: [{ path: POS, kind: 'empty' }],
    looks: new Map(),
    depth: 'light',
    followed: [],
    source: 'outside',
    reports: undefined,
    buffers: undefined,
    mains: undefined,
    fluentd: ABSENT,
    requests: [{ by: 'SIGINT', at: 2_000 }],
  });
});

describe('only a full look asks for', () => {
  const depths = ['light', 'all', 'last'] as const;

  test('is what buffers hold', async () => {
    const collector = new Collector(new FakeHost(), subject());
    const looks = await Promise.all(depths.map((depth) => collector.look(depth, LOOK)));
    const unseen = ['all buffers: no fluent.conf is known'];
    expect(looks.map(({ buffers }) => buffers?.unseen)).toEqual([undefined, unseen, unseen]);
  });

  test('is the witness; that there is one is enough at rest', async () => {
    const host = new FakeHost();
    host.witnesses = [alive()];
    const collector = new Collector(host, subject({ witness: '/posidle' }));
    const looks = await Promise.all(depths.map((depth) => collector.look(depth, LISTENING)));
    expect(looks.map(({ source }) => source)).toEqual(['witness', 'witness', 'witness']);
    const { witnesses } = host;
    expect(looks.map(({ reports }) => reports?.witnesses)).toEqual([undefined, witnesses, witnesses]);
  });
});

test('no witness is asked where there is none, or where none is looked for', async () => {
  const host = new FakeHost();
  const look = (witness?: string) => new Collector(host, subject({ witness })).look('all', LOOK);
  expect(await look('/posidle')).toMatchObject({ source: 'outside', reports: undefined });
  host.witnesses = [alive()];
  expect(await look()).toMatchObject({ source: 'outside', reports: undefined });
});

test('main is looked for among the processes, where it is named, and known when it becomes another program', async () => {
  const host = new FakeHost();
  const collector = new Collector(host, subject({ doneProcess: 'main.jar' }));
  const pids = async () => (await collector.look('light', LOOK)).mains?.map(({ pid }) => pid);
  host.startProcess({ pid: 500, argv: ['sh', '-c', 'exec java -jar main.jar'] });
  expect(await pids()).toEqual([500]);
  host.startProcess({ pid: 500, argv: ['java', 'Main'] });
  host.startProcess({ pid: 501, argv: ['java', 'Main'] });
  expect(await pids()).toEqual([500]);
  host.endProcess(500);
  host.startProcess({ pid: 500, argv: ['java', 'Main'], startTime: 'later' });
  expect(await pids()).toEqual([]);
});

async function looksAt(host: FakeHost, entries: readonly PositionEntry[]): Promise<readonly FileLook[]> {
  host.writeFile(POS, posText(entries));
  const { looks } = await new Files(host, { posFiles: [POS], conf: undefined }).look('all');
  return [...looks.values()];
}
