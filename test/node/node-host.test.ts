import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { expandAll } from '../../src/daemon/read-pos-files.ts';
import { NodeHost } from '../../src/node/node-host.ts';
import { tempDir } from '../support/temp-dir.ts';

const LONG = 60_000;
const A_WHILE = 300;

const inDir = tempDir();
let posFile: string;
let host: NodeHost;
beforeEach(() => {
  posFile = inDir('app.pos');
  writeFileSync(posFile, '');
  host = new NodeHost();
  host.watchFiles([posFile], (why) => expect.fail(why));
});
afterEach(() => host.close());

test('a change of a pos file ends a sleep that waits for one', async () => {
  const writing = setInterval(() => appendFileSync(posFile, 'x'), 10);
  await host.sleep(host.now() + LONG, true);
  clearInterval(writing);
});

test('a change of a pos file does not end another sleep', async () => {
  const writing = setInterval(() => appendFileSync(posFile, 'x'), 10);
  const from = host.now();
  await host.sleep(from + A_WHILE, false);
  clearInterval(writing);
  expect(host.now() - from).toBeGreaterThanOrEqual(A_WHILE - 2);
});

test('a trigger file that appears ends a sleep, and is a request once', async () => {
  const done = inDir('done');
  const other = new NodeHost();
  other.watchFiles([done], (why) => expect.fail(why));
  other.watchTriggers([{ by: 'done-file', look: () => existsSync(done) }]);
  expect(other.requests()).toEqual([]);
  const writing = setInterval(() => writeFileSync(done, ''), 10);
  await other.sleep(other.now() + LONG, true);
  clearInterval(writing);
  expect(other.requests()).toMatchObject([{ by: 'done-file' }]);
  expect(other.requests()).toHaveLength(1);
  other.close();
});

test('a heartbeat that goes on is no request any more, and one that stops again is a later one', () => {
  const there = { heartbeat: true, 'done-file': true };
  const other = new NodeHost();
  other.watchTriggers([
    { by: 'heartbeat', look: () => there.heartbeat },
    { by: 'done-file', look: () => there['done-file'] },
  ]);
  const kinds = () => other.requests().map(({ by }) => by);
  expect(kinds()).toEqual(['heartbeat', 'done-file']);
  there.heartbeat = false;
  expect(kinds()).toEqual(['done-file']);
  there.heartbeat = true;
  expect(kinds()).toEqual(['done-file', 'heartbeat']);
});

test('a glob of pos files takes a % in a name for itself', async () => {
  writeFileSync(inDir('100%d-a.pos'), '');
  const found = await expandAll(new NodeHost(), [inDir('100%d*.pos'), inDir('?00%d-a.pos'), inDir('none*')]);
  expect([...found.keys()]).toEqual([inDir('100%d-a.pos'), inDir('none*')]);
});
