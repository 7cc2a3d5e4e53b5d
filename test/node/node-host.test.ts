import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NodeHost } from '../../src/node/node-host.ts';

const LONG = 60_000;
const A_WHILE = 300;

let dir: string;
let posFile: string;
let host: NodeHost;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-host-'));
  posFile = join(dir, 'app.pos');
  writeFileSync(posFile, '');
  host = new NodeHost();
  host.watchFiles([posFile], (why) => expect.fail(why));
});
afterEach(() => {
  host.close();
  rmSync(dir, { recursive: true });
});

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
