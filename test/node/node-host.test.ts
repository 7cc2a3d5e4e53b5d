import { appendFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
  await host.sleep(host.now() + LONG, { wakeOnChange: true });
  clearInterval(writing);
});

test('a change of a pos file does not end another sleep', async () => {
  const writing = setInterval(() => appendFileSync(posFile, 'x'), 10);
  const from = host.now();
  await host.sleep(from + A_WHILE);
  clearInterval(writing);
  expect(host.now() - from).toBeGreaterThanOrEqual(A_WHILE - 2);
});
