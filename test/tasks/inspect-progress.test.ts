import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NodeHost } from '../../src/node/node-host.ts';
import { Inspector } from '../../src/tasks/inspect-look.ts';
import { inspectSubject } from '../../src/tasks/inspect-subject.ts';
import { posText } from '../support/builders.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-progress-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** What a look at a pos file tells of itself. */
async function toldOf(pos: string, raw = false): Promise<readonly string[]> {
  const wanted = { posFiles: [pos], fluentConf: undefined, raw, root: undefined };
  const host = new NodeHost();
  const inspector = new Inspector(host, await inspectSubject(host, wanted));
  const told: string[] = [];
  inspector.onProgress = (text, isLong) => told.push(`${isLong ? 'at once: ' : ''}${text()}`);
  await inspector.look();
  return told;
}

test('a look tells how far it is with a log that it has to search for a newline', async () => {
  const log = join(dir, 'long\u009b.log');
  writeFileSync(log, Buffer.alloc(256 * 1024));
  const pos = join(dir, 'long.pos');
  writeFileSync(pos, posText([{ path: log, position: 0, inode: statSync(log).ino }]));
  expect(await toldOf(pos)).toContain(`searched 64.0 KiB of 256.0 KiB for a newline: ${dir}/long\\x9b.log`);
});

test('a look at a large pos file tells at once that it is read', async () => {
  const pos = join(dir, 'large.pos');
  const text = posText([{ path: '/a'.padEnd(4_061, 'x'), position: 0, inode: 1 }]);
  writeFileSync(pos, text.repeat(4_096));
  expect(await toldOf(pos, true)).toEqual([`at once: reading 16.0 MiB: ${pos}`]);
});
