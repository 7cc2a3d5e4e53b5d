import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listChunks } from '../../../src/node/files/chunks.ts';
import { tempDir } from '../../support/temp-dir.ts';

const at = tempDir();
const id = (n: number) => n.toString(16).padStart(32, '0');

const RENAME_ALL = `
const { readdirSync, renameSync } = require('node:fs');
const staged = readdirSync('.').filter((name) => name.includes('.b'));
for (const name of staged) renameSync(name, name.replace('.b', '.q'));
`;

test('a chunk that is renamed during the listing is listed once, and a .meta never', async () => {
  const count = 4_000;
  mkdirSync(at('buffer'));
  const meta = at('buffer', `out.b${id(count)}.log.meta`);
  writeFileSync(meta, '');
  // A new name takes a tenth of the time of a new file.
  for (let n = 0; n < count; n += 1) linkSync(meta, at('buffer', `out.b${id(n)}.log`));
  const renaming = spawn(process.execPath, ['-e', RENAME_ALL], { cwd: at('buffer') });
  const ended = once(renaming, 'exit');
  const seen: number[] = [];
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver) seen.push((await listChunks([at('buffer', 'out.*.log')], (path) => path)).chunks.length);
  expect(new Set(seen)).toEqual(new Set([count]));
  expect(await ended).toEqual([0, null]);
});
