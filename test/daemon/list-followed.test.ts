import { expect, test } from 'vitest';
import type { TailSource } from '../../src/core/fluent-conf/tail.ts';
import type { Depth, Snapshot } from '../../src/core/look/snapshot.ts';
import { FollowedFiles } from '../../src/daemon/list-followed.ts';
import { confOf, LOG } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

test('while nothing moves, new files are looked for every ten seconds', async () => {
  const { host, look, listings } = await atRest();
  for (let second = 0; second < 20; second += 1) await look();
  expect(listings()).toBe(2);
  host.writeFile('/var/log/new.log', 'line\n');
  for (let second = 0; second < 10; second += 1) await look();
  expect((await look()).map(({ path }) => path)).toEqual([LOG, '/var/log/new.log']);
});

test('when something has moved, new files are looked for after a second', async () => {
  const { host, list, listings } = await atRest();
  await list('light', new Map());
  expect(listings()).toBe(0);
  await host.sleep(host.now() + 1_000);
  await list('light', new Map());
  expect(listings()).toBe(1);
});

test('an unchanged list is the same object, and a list with a changed size is another one', async () => {
  const { host, list } = await atRest();
  const before = await list('all');
  expect(await list('all')).toBe(before);
  host.writeFile(LOG, 'line\nline\n');
  expect(await list('all')).not.toBe(before);
});

test('what may hide further sources is told once, with the number of the reasons', async () => {
  const conf = { sources: [], hidden: ['f.conf:1: why', 'f.conf:2: why', 'f.conf:3: other'] };
  const listed = await new FollowedFiles(new FakeHost(), conf).list('all', new Map());
  expect(listed.map(({ unknown }) => unknown)).toEqual(['f.conf:1: why (and 2 more)']);
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
    listFollowed: (source: TailSource, alreadyKept?: number) => {
      asked.push(alreadyKept);
      return listFollowed.call(host, source);
    },
  });
  const paths = ['/var/log/*.log', '/var/log/a.log', '/none'];
  const sources = paths.flatMap((path) => confOf([path]).sources);
  await new FollowedFiles(host, { sources, hidden: [] }).list('all', LOOKS);
  expect(asked).toEqual([0, 2, 3]);
});

const LOOKS: Snapshot['looks'] = new Map();

/** One file, long since. */
async function atRest() {
  const host = new FakeHost();
  host.writeFile(LOG, 'line\n', '7');
  const followed = new FollowedFiles(host, confOf(['/var/log/*.log']));
  let listings = 0;
  const { listFollowed } = host;
  host.listFollowed = (source) => {
    listings += 1;
    return listFollowed.call(host, source);
  };
  const list = (depth: Depth, looks = LOOKS) => followed.list(depth, looks);
  const look = async (depth: Depth = 'light') => {
    await host.sleep(host.now() + 1_000);
    return (await list(depth)).flatMap(({ files }) => files);
  };
  await list('light');
  listings = 0;
  return { host, list, look, listings: () => listings };
}
