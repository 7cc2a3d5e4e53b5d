import { expect, test, vi } from 'vitest';
import type { Depth } from '../../src/core/look/snapshot.ts';
import { entryKeyIn } from '../../src/core/pos-file/pos-file.ts';
import { Files } from '../../src/daemon/look-at-files.ts';
import { confOf, LOG, POS, posText } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

test('light looks list new files every thirty seconds', async () => {
  const { host, look, listings } = await listed();
  for (let second = 0; second < 60; second += 1) await look();
  expect(listings()).toBe(2);
  host.writeFile('/var/log/new.log', 'line\n');
  for (let second = 0; second < 30; second += 1) await look();
  expect((await look()).map(({ path }) => path)).toEqual([LOG, '/var/log/new.log']);
});

test('a full look always lists them', async () => {
  const { look, listings } = await listed();
  await look('all');
  await look('all');
  expect(listings()).toBe(2);
});

test('what may hide further sources is told once, with the number of the reasons', async () => {
  const conf = { ...confOf([]), sources: [], hidden: ['f.conf:1: why', 'f.conf:2: why', 'f.conf:3: other'] };
  const { followed } = await new Files(new FakeHost(), { posFiles: [], conf }).look('all');
  expect(followed.map(({ unknown }) => unknown)).toEqual(['f.conf:1: why (and 2 more)']);
});

test('sources share the memory: each is listed beside the files of those before it', async () => {
  const host = new FakeHost();
  for (const name of ['a.log', 'b.log']) host.writeFile(`/var/log/${name}`, 'line\n');
  const listing = vi.spyOn(host, 'listFollowed');
  const paths = ['/var/log/*.log', '/var/log/a.log', '/none'];
  const sources = paths.flatMap((path) => confOf([path]).sources);
  await new Files(host, { posFiles: [], conf: { ...confOf([]), sources } }).look('all');
  expect(listing.mock.calls.map((given) => given.at(1))).toEqual([0, 2, 3]);
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

/** One file, long since. */
async function listed() {
  const host = new FakeHost();
  host.writeFile(LOG, 'line\n', '7');
  const files = new Files(host, { posFiles: [], conf: confOf(['/var/log/*.log']) });
  const listing = vi.spyOn(host, 'listFollowed');
  const look = async (depth: Depth = 'light') => {
    await host.sleep(host.now() + 1_000);
    const { followed } = await files.look(depth);
    return followed.flatMap(({ files }) => files);
  };
  await files.look('light');
  listing.mockClear();
  return { host, look, listings: () => listing.mock.calls.length };
}
