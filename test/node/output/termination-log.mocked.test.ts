import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Outcome } from '../../../src/core/drain/outcome.ts';
import { writeTerminationLog } from '../../../src/node/output/termination-log.ts';
import { tempDir } from '../../support/temp-dir.ts';

const disk = vi.hoisted(() => ({ isStuck: false }));
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  const open: typeof real.open = (...args) => (disk.isStuck ? new Promise(() => {}) : real.open(...args));
  return { ...real, open };
});

const NOTHING = { count: 0, bytes: 0, worst: [] };
const WORDS = {
  end: 'stopped',
  why: 'everything is read',
  outcome: 'not-drained',
  trigger: 'quiet',
} as const;
const LISTS = { outputs: [], doubts: NOTHING, left: NOTHING, durationsMs: {} };
const OUTCOME: Outcome = { version: 1, files: 0, lines: undefined, ...WORDS, ...LISTS };
const inDir = tempDir();
let path = '';

beforeEach(() => {
  path = inDir('log');
});
afterEach(() => {
  disk.isStuck = false;
});

describe('the termination message', () => {
  test.each([
    ['takes the place of what stood in the file', () => writeFileSync(path, 'x'.repeat(10_000))],
    ['makes the file where there is none', () => {}],
  ])('%s', async (_, make) => {
    make();
    await writeTerminationLog(path, OUTCOME);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(OUTCOME);
    expect(readFileSync(path, 'utf8')).toMatch(/\}\n$/);
  });

  test.each([
    ['a symbolic link', (other: string) => symlinkSync(other, path), 'it is a symbolic link'],
    ['a link to nothing', () => symlinkSync(inDir('none'), path), 'it is a symbolic link'],
    ['a hard link', (other: string) => linkSync(other, path), 'it has another name too (a hard link)'],
    ['a FIFO', () => execFileSync('mkfifo', [path]), 'it is not a regular file'],
    ['a directory', () => execFileSync('mkdir', [path]), 'it is a directory'],
  ])('is not written through %s', async (_, make, why) => {
    const other = inDir('other');
    writeFileSync(other, 'precious');
    make(other);
    await expect(writeTerminationLog(path, OUTCOME)).rejects.toThrow(why);
    expect(readFileSync(other, 'utf8')).toBe('precious');
  });

  test('is not written through a link that somebody has put in the place of its directory', async () => {
    mkdirSync(inDir('precious'));
    writeFileSync(inDir('precious/log'), 'precious');
    symlinkSync(inDir('precious'), inDir('shared'));
    for (const name of ['shared/log', 'shared/none'])
      await expect(writeTerminationLog(inDir(name), OUTCOME)).rejects.toThrow(
        `a symbolic link leads to its directory, which is ${inDir()}/precious`,
      );
    expect(readdirSync(inDir('precious'))).toEqual(['log']);
    expect(readFileSync(inDir('precious/log'), 'utf8')).toBe('precious');
  });

  test('is not written to a device, nor into a FIFO that somebody reads', async () => {
    await expect(writeTerminationLog('/dev/full', OUTCOME)).rejects.toThrow('it is not a regular file');
    execFileSync('mkfifo', [path]);
    const reader = spawn('sh', ['-c', 'exec 3<>"$0"; echo ready; exec cat <&3', path]);
    await once(reader.stdout, 'data');
    await expect(writeTerminationLog(path, OUTCOME)).rejects.toThrow('it is not a regular file');
    reader.kill('SIGKILL');
  });

  test('is given up where the disk does not answer', async () => {
    disk.isStuck = true;
    await expect(writeTerminationLog(path, OUTCOME)).rejects.toThrow('not written within 2.0 s');
  });

  test('names the largest as far as 2 KiB have room, and says how many there are', async () => {
    const worst = Array.from(
      { length: 10 },
      (_, at) => ({ kind: 'unread', path: 'x'.repeat(400), bytes: 9 - at }) as const,
    );
    await writeTerminationLog(path, { ...OUTCOME, left: { count: 12, bytes: 45, worst } });
    const message = readFileSync(path, 'utf8');
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(2_048);
    expect(JSON.parse(message)).toMatchObject({ left: { count: 12, worst: worst.slice(0, 4) } });
  });

  test('leaves the outputs out before it leaves out all that was left', async () => {
    const receipt = { took: 1, own: 0, left: 0, delivered: 1, secondary: 0, aside: 0, dropped: 0, held: 0 };
    const outputs = Array.from({ length: 20 }, (_, at) => ({ output: `http ${at}`, ...receipt }));
    const worst = [{ kind: 'unread', path: '/a.log', bytes: 9 }] as const;
    const told = { ...OUTCOME, left: { count: 1, bytes: 9, worst } };
    await writeTerminationLog(path, { ...told, outputs });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ ...told, outputs: [] });
  });

  test('cannot steer the terminal that shows it', async () => {
    const worst = [{ kind: 'unread', path: '/a\u009b31m\u202e.log', bytes: 1 }] as const;
    await writeTerminationLog(path, { ...OUTCOME, left: { ...OUTCOME.left, worst } });
    expect(readFileSync(path, 'utf8')).toMatch(/\/a\\u009b31m\\u202e\.log/);
  });
});
