import { expect, test, vi } from 'vitest';
import { latestIn } from '../../src/core/pos-file/pos-file.ts';
import { PosFiles } from '../../src/daemon/read-pos-files.ts';
import { LOG, POS, posText } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

test('a look holds every pos file that the arguments stand for, each once', async () => {
  const host = new FakeHost();
  for (const name of ['b', 'a']) host.writeFile(`/pos/${name}.pos`, posText([]));
  const readings = await new PosFiles(host).read(['/pos/*.pos', '/pos/a.pos', '/pos/none.pos']);
  expect(readings.map(({ path }) => path)).toEqual(['/pos/a.pos', '/pos/b.pos', '/pos/none.pos']);
});

test('pos files share the memory: each is read beside the entries of those before it', async () => {
  const host = new FakeHost();
  const entries = [LOG, '/other'].map((path, at) => ({ path, position: 5, inode: at + 1 }));
  for (const name of ['a', 'b', 'c']) host.writeFile(`/pos/${name}.pos`, posText(entries));
  const reading = vi.spyOn(host, 'readFile');
  await new PosFiles(host).read(['/pos/*.pos']);
  expect(reading.mock.calls.map(([, options]) => options?.alreadyKept)).toEqual([0, 2, 4]);
});

test('a glob with more than a thousand matches is named, and none of them is read', async () => {
  const host = new FakeHost();
  for (let name = 0; name <= 1_000; name += 1) host.writeFile(`/pos/${name}.pos`, posText([]));
  expect(await new PosFiles(host).read(['/pos/*.pos', POS])).toEqual([
    { path: '/pos/*.pos', kind: 'unreadable', error: '1001 files match, and at most 1000 are read' },
    { path: POS, kind: 'missing' },
  ]);
});

test.each(['no newline', 'one\n', 'one\ntwo\n'])('a file that holds %j is no pos file', async (text) => {
  const host = new FakeHost();
  host.writeFile('/pos/text', text);
  const foreign = { kind: 'foreign', why: expect.stringMatching('^is no pos file: ') };
  expect(await new PosFiles(host).read(['/pos/text'])).toMatchObject([foreign]);
});

test('a pos file is read, missing, empty or unreadable, and each is told from the others', async () => {
  const host = new FakeHost();
  host.writeFile('/pos/read', posText([{ path: LOG, position: 5, inode: 7 }]));
  host.writeFile('/pos/empty', '');
  await host.sleep(1_500);
  const names = ['read', 'empty', 'missing'].map((name) => `/pos/${name}`);
  const { entries } = latestIn('/pos/read', [{ path: LOG, position: 5, inode: '7' }]);
  expect(await new PosFiles(host).read(names)).toEqual([
    {
      path: '/pos/read',
      kind: 'read',
      file: '101',
      entries,
      replaced: [],
      unparsable: [],
      writtenAgo: 1_500,
    },
    { path: '/pos/empty', kind: 'empty' },
    { path: '/pos/missing', kind: 'missing' },
  ]);
  refuse(host);
  const unreadable = { path: '/pos/read', kind: 'unreadable', error: 'EIO: i/o error, read' };
  expect(await new PosFiles(host).read(['/pos/read'])).toEqual([unreadable]);
});

function refuse(host: FakeHost): void {
  vi.spyOn(host, 'readFile').mockRejectedValue(new Error('EIO: i/o error, read'));
}

const entriesAt = (position: number) => posText([{ path: LOG, position, inode: 7 }]);

test('a pos file that does not change is read no more, and its age goes on', async () => {
  const { host, look, readsOf } = watched();
  host.writeFile(POS, entriesAt(5));
  await host.sleep(1_000);
  await readsOf(look);
  await host.sleep(4_000);
  const before = await look();
  await host.sleep(9_000);
  const after = await look();
  expect(await readsOf(look)).toBe(0);
  expect(after).toMatchObject({ kind: 'read', writtenAgo: 9_000 });
  expect(after?.kind === 'read' && before?.kind === 'read' && after.entries === before.entries).toBe(true);
});

test('a pos file that was written a moment ago is read again: two writes may get the same time', async () => {
  const { host, look, readsOf } = watched();
  host.writeFile(POS, entriesAt(5));
  await look();
  host.writeFile(POS, entriesAt(6));
  expect(await look()).toMatchObject({ entries: [{ position: 6 }] });
  await host.sleep(2_000);
  expect(await readsOf(look)).toBe(1);
});

test.each([
  ['is written', (host: FakeHost) => host.writeFile(POS, entriesAt(9)), { entries: [{ position: 9 }] }],
  ['is emptied', (host: FakeHost) => host.writeFile(POS, ''), { kind: 'empty' }],
  ['goes away', (host: FakeHost) => void host.files.delete(POS), { kind: 'missing' }],
  ['cannot be read any more', refuse, { kind: 'unreadable' }],
])('a pos file that %s is read at once', async (_, change, expected) => {
  const { host, look, readsOf } = watched();
  host.writeFile(POS, entriesAt(5));
  await look();
  await host.sleep(5_000);
  await look();
  expect(await readsOf(look)).toBe(0);
  await host.sleep(60_000);
  change(host);
  expect(await look()).toMatchObject(expected);
});

test('a pos file that was away is read again when it is back: while it is away, nothing of it stays in memory', async () => {
  const { host, look, readsOf } = watched();
  host.writeFile(POS, entriesAt(5));
  const file = host.files.get(POS);
  await look();
  await host.sleep(5_000);
  await look();
  expect(await readsOf(look)).toBe(0);
  host.files.delete(POS);
  await look();
  if (file !== undefined) host.files.set(POS, file);
  expect(await readsOf(look)).toBe(1);
});

function watched() {
  const host = new FakeHost();
  const posFiles = new PosFiles(host);
  const look = async () => (await posFiles.read([POS]))[0];
  const reading = vi.spyOn(host, 'readFile');
  const readsOf = async (work: () => Promise<unknown>) => {
    reading.mockClear();
    await work();
    return reading.mock.settledResults.filter(({ value }) => value?.bytes !== undefined).length;
  };
  return { host, look, readsOf };
}
