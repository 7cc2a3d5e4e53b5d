import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { holdsOpen } from '../../../src/node/processes/open-files.ts';

let dir = '';

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-open-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('a process holds a file open, by whatever name, or does not; of a process that is gone nobody knows', () => {
  const [held, link, other] = ['held', 'link', 'other'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [held, other]) writeFileSync(path, '');
  symlinkSync(held, link);
  const file = openSync(held, 'r');
  const isHeld = (...paths: string[]) => holdsOpen(process.pid, paths);
  expect([isHeld(held), isHeld(link), isHeld(other, held)]).toEqual([true, true, true]);
  expect([isHeld(other), isHeld(join(dir, 'none')), isHeld()]).toEqual([false, false, false]);
  closeSync(file);
  expect(isHeld(held)).toBe(false);
  expect(holdsOpen(4_194_305, [held])).toBeUndefined();
});

test('of very many open files the first are looked at for a pos file', async () => {
  writeFileSync(join(dir, 'first'), '');
  writeFileSync(join(dir, 'late'), '');
  const many = 'exec 3<$0/first; for fd in {10..40}; do eval "exec $fd</dev/null"; done; exec 41<$0/late';
  const child = spawn('bash', ['-c', `${many}; echo ready; read`, dir]);
  await once(child.stdout, 'data');
  const isHeld = (name: string, most?: number) => holdsOpen(child.pid ?? 0, [join(dir, name)], most);
  expect([isHeld('first', 20), isHeld('late', 20), isHeld('late')]).toEqual([true, false, true]);
  child.kill('SIGKILL');
});
