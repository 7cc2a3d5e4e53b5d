import { expect, test } from 'vitest';
import type { TailSource } from '../../src/core/fluent-conf/tail.ts';
import type { Depth } from '../../src/core/look/snapshot.ts';
import { FollowedFiles } from '../../src/daemon/list-followed.ts';
import { LogFileLooks } from '../../src/daemon/look-at-files.ts';
import { PosFiles } from '../../src/daemon/read-pos-files.ts';
import { confOf, LOG, POS, posText } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

test('names that do not change are listed no more at rest, but for once in half a minute', async () => {
  const { host, look, listings } = await atRest();
  for (let second = 0; second < 20; second += 1) await look();
  expect(listings()).toBe(0);
  await host.sleep(host.now() + 30_000);
  await look();
  expect(listings()).toBe(1);
});

test('a new file is seen at the next look', async () => {
  const { host, look } = await atRest();
  host.writeFile('/var/log/new.log', 'line\n');
  expect((await look()).map(({ path }) => path)).toEqual([LOG, '/var/log/new.log']);
});

test('the size of a file without an entry is that of the moment', async () => {
  const { host, look } = await atRest();
  host.writeFile('/var/log/new.log', 'line\n');
  for (let second = 0; second < 10; second += 1) await look();
  host.writeFile('/var/log/new.log', 'line\nline\n');
  expect((await look())[1]).toMatchObject({ size: 10 });
});

test('the files are not listed when those grow that have an entry', async () => {
  const { host, look, listings } = await atRest();
  host.writeFile(LOG, 'line\nline\n');
  await look();
  expect(listings()).toBe(0);
});

test.each([
  ['begins anew', { position: 0, inode: 7 }],
  ['is given up', { position: null, inode: 7 }],
  ['is that of another file', { position: 5, inode: 8 }],
])('the files are listed when the entry of one %s', async (_, entry) => {
  const { host, look, listings } = await atRest();
  host.writeFile(POS, posText([{ path: LOG, ...entry }]));
  await look();
  expect(listings()).toBe(1);
});

test('the files are listed when another one stands behind a link, where no name changes', async () => {
  const { host, look, listings } = await atRest();
  host.namesStamp = async () => 'the same';
  for (let second = 0; second < 10; second += 1) await look();
  const before = listings();
  host.writeFile(LOG, 'line\n', '8');
  expect(await look()).toMatchObject([{ inode: '8' }]);
  expect(listings()).toBe(before + 1);
});

test.each(['all', 'last'] as const)('a look that takes in %s lists them always', async (depth) => {
  const { look, listings } = await atRest();
  await look(depth);
  await look(depth);
  expect(listings()).toBe(2);
});

test('sources share the memory: each is listed beside the files of those before it', async () => {
  const host = new FakeHost();
  for (const name of ['a.log', 'b.log']) host.writeFile(`/var/log/${name}`, 'line\n');
  const asked: unknown[] = [];
  const { listFollowed } = host;
  Object.assign(host, {
    listFollowed: (source: TailSource, besides?: number) => {
      asked.push(besides);
      return listFollowed.call(host, source);
    },
  });
  const sources = [['/var/log/*.log'], ['/var/log/a.log'], ['/none']].flatMap(
    (paths) => confOf(paths).sources,
  );
  const followed = new FollowedFiles(host, { sources, hidden: [] });
  await followed.list('all', { posFiles: [], looks: new Map() });
  expect(asked).toEqual([0, 2, 3]);
});

/** One file that is read, long since. */
async function atRest() {
  const host = new FakeHost();
  host.writeFile(LOG, 'line\n', '7');
  host.writeFile(POS, posText([{ path: LOG, position: 5, inode: 7 }]));
  const posFiles = new PosFiles(host);
  const logFiles = new LogFileLooks(host);
  const followed = new FollowedFiles(host, confOf(['/var/log/*.log']));
  let listings = 0;
  const { listFollowed } = host;
  host.listFollowed = (source) => {
    listings += 1;
    return listFollowed.call(host, source);
  };
  const look = async (depth: Depth = 'rest') => {
    await host.sleep(host.now() + 1_000);
    const readings = await posFiles.read([POS]);
    const looks = await logFiles.look(readings);
    const found = await followed.list(depth, { posFiles: readings, looks });
    return found.flatMap(({ files }) => files);
  };
  for (let second = 0; second < 10; second += 1) await look();
  listings = 0;
  return { host, look, listings: () => listings };
}
