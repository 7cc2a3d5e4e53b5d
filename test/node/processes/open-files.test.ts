import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { holdsOpen, openFiles } from '../../../src/node/processes/open-files.ts';

/** Another file system than that of the temporary directory, on most machines. */
const OTHER = '/dev/shm';
const hasOther = deviceOf(OTHER) !== undefined && deviceOf(OTHER) !== deviceOf(tmpdir());
const testOnTwo = hasOther ? test : () => undefined;

let dir = '';
let other = '';
const files: number[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-open-'));
  if (hasOther) other = mkdtempSync(join(OTHER, 'posidle-open-'));
});
afterEach(() => {
  for (const file of files.splice(0)) closeSync(file);
  for (const made of [dir, other].filter(Boolean)) rmSync(made, { recursive: true, force: true });
});

function deviceOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.dev;
}

/** This process holds a file open that is deleted then; gives its inode. */
function heldAndDeleted(path: string, how = 'r'): string {
  writeFileSync(path, '');
  files.push(openSync(path, how));
  const inode = String(statSync(path).ino);
  rmSync(path);
  return inode;
}

const find = (path: string, inode: string) => openFiles([process.pid])(path, inode)?.stat.inode;

describe('a deleted file that a process holds open', () => {
  test('is found by its path and inode', () => {
    const path = join(dir, 'app.log');
    const inode = heldAndDeleted(path);
    expect([find(path, inode), find(path, '1')]).toEqual([inode, undefined]);
  });

  test('is not one that the process writes: a chunk of a buffer may get the inode of a log', () => {
    const path = join(dir, 'app.log');
    for (const how of ['r+', 'a']) expect(find(path, heldAndDeleted(path, how))).toBeUndefined();
  });

  test('is open in none of them where all may be looked at; else nobody knows', () => {
    const path = join(dir, 'app.log');
    const nobody = 4_194_305;
    expect(openFiles([process.pid])(path, '1')).toBeNull();
    expect(openFiles([process.pid, nobody])(path, '1')).toBeUndefined();
    expect(openFiles([])(path, '1')).toBeUndefined();
  });

  test('is found where its directory is gone too', () => {
    const path = join(dir, 'sub/app.log');
    mkdirSync(join(dir, 'sub'));
    const inode = heldAndDeleted(path);
    rmSync(join(dir, 'sub'), { recursive: true });
    expect(find(path, inode)).toBe(inode);
  });

  testOnTwo('is not taken for one of another volume with the same inode number', () => {
    const inode = heldAndDeleted(join(other, 'app.log'));
    expect(find(join(other, 'app.log'), inode)).toBe(inode);
    expect(find(join(dir, 'app.log'), inode)).toBeUndefined();
  });

  testOnTwo('is found behind a link that leads to another volume', () => {
    symlinkSync(join(other, '0.log'), join(dir, 'app.log'));
    const inode = heldAndDeleted(join(other, '0.log'));
    expect(find(join(dir, 'app.log'), inode)).toBe(inode);
  });
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

test('open files are read once, and only when one is asked for', () => {
  const path = join(dir, 'app.log');
  const open = openFiles([process.pid]);
  const inode = heldAndDeleted(path);
  expect(open(path, inode)?.stat.inode).toBe(inode);
  const later = heldAndDeleted(join(dir, 'later.log'));
  expect(open(join(dir, 'later.log'), later)).toBeNull();
});
