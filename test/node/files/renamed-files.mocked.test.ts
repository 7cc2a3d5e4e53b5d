import { mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as names from '../../../src/node/files/names.ts';
import { RenamedFiles } from '../../../src/node/files/renamed-files.ts';

vi.mock('../../../src/node/files/names.ts', { spy: true });

let dir = '';
let files: RenamedFiles;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-renamed-'));
  files = new RenamedFiles();
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
  vi.clearAllMocks();
});

function write(name: string): string {
  writeFileSync(join(dir, name), '');
  return String(statSync(join(dir, name)).ino);
}

/** In the look of this moment, and in a listing of its own where one is needed. */
async function find(inode: string): Promise<string | Error | undefined> {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_000);
  files.begin();
  for (;;) {
    const found = files.find(inode, `${dir}/`);
    if (found instanceof Promise) await found;
    else return found instanceof Error ? found : found?.path.slice(dir.length + 1);
  }
}

const listings = () => vi.mocked(names.readNames).mock.calls.length;

/** Directories are dated by the timer tick: two changes within one look alike. */
function settle(): void {
  utimesSync(dir, new Date(), new Date(Date.now() - 60_000));
}

describe('a directory', () => {
  test('is listed once for a file that stays where it is', async () => {
    const inode = write('app.log.1');
    expect([await find(inode), await find(inode), listings()]).toEqual(['app.log.1', 'app.log.1', 1]);
  });

  test('is listed again when the file has gone on', async () => {
    const inode = write('app.log.1');
    await find(inode);
    renameSync(join(dir, 'app.log.1'), join(dir, 'app.log.2'));
    expect([await find(inode), listings()]).toEqual(['app.log.2', 2]);
  });

  test('is listed once for a file that it does not hold, as long as its names stay', async () => {
    const inode = write('app.log.1');
    rmSync(join(dir, 'app.log.1'));
    settle();
    expect([await find(inode), await find(inode), listings()]).toEqual([undefined, undefined, 1]);
    write('another.log');
    await find(inode);
    expect(listings()).toBe(2);
  });

  test('that has just changed may change once more under the same date', async () => {
    const inode = write('app.log.1');
    rmSync(join(dir, 'app.log.1'));
    await find(inode);
    await find(inode);
    expect(listings()).toBe(2);
  });

  test('of too many names tells nothing', async () => {
    vi.mocked(names.nameBudget).mockReturnValueOnce({ most: 1, left: 1, bytes: 1_000 });
    const inode = write('app.log.1');
    write('b.log');
    expect(await find(inode)).toMatchObject({ message: expect.stringContaining('more than 1 names') });
  });
});
