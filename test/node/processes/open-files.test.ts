import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { holdsOpen } from '../../../src/node/processes/open-files.ts';
import { tempDir } from '../../support/temp-dir.ts';

const inDir = tempDir();

test('a process holds a file open, by whatever name, or does not; of a process that is gone nobody knows', async () => {
  const [held, link, other] = [inDir('held'), inDir('link'), inDir('other')];
  for (const path of [held, other]) writeFileSync(path, '');
  symlinkSync(held, link);
  const file = openSync(held, 'r');
  const isHeld = (...paths: string[]) => holdsOpen(process.pid, paths);
  expect(await Promise.all([isHeld(held), isHeld(link), isHeld(other, held)])).toEqual([true, true, true]);
  expect(await Promise.all([isHeld(other), isHeld(inDir('none')), isHeld()])).toEqual([false, false, false]);
  closeSync(file);
  expect(await isHeld(held)).toBe(false);
  expect(await holdsOpen(4_194_305, [held])).toBeUndefined();
});

test('only the first of very many open files are checked', async () => {
  writeFileSync(inDir('first'), '');
  writeFileSync(inDir('late'), '');
  const many = 'exec 3<$0/first; for fd in {10..40}; do eval "exec $fd</dev/null"; done; exec 41<$0/late';
  const child = spawn('bash', ['-c', `${many}; echo ready; read`, inDir()]);
  await once(child.stdout, 'data');
  const isHeld = (name: string, most?: number) => holdsOpen(child.pid ?? 0, [inDir(name)], most);
  expect(await Promise.all([isHeld('first', 20), isHeld('late', 20), isHeld('late')])).toEqual([
    true,
    false,
    true,
  ]);
  child.kill('SIGKILL');
});
