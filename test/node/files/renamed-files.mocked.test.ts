import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as names from '../../../src/node/files/names.ts';
import { RenamedFiles } from '../../../src/node/files/renamed-files.ts';
import { tempDir } from '../../support/temp-dir.ts';

vi.mock('../../../src/node/files/names.ts', { spy: true });

const inDir = tempDir();
let files: RenamedFiles;

beforeEach(() => {
  files = new RenamedFiles();
});
afterEach(() => {
  vi.clearAllMocks();
});

function write(name: string): string {
  writeFileSync(inDir(name), '');
  return String(statSync(inDir(name)).ino);
}

/** In the look of this moment, and in a listing of its own where one is needed. */
async function find(inode: string): Promise<string | undefined> {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_000);
  files.begin();
  const found = await files.find(inode, `${inDir()}/`);
  return found?.path.slice(inDir().length + 1);
}

const listings = () => vi.mocked(names.readNames).mock.calls.length;

/** Directories are dated by the timer tick: two changes within one look alike. */
function settle(): void {
  utimesSync(inDir(), new Date(), new Date(Date.now() - 60_000));
}

describe('a directory', () => {
  test('is listed once for a file that stays where it is', async () => {
    const inode = write('app.log.1');
    expect([await find(inode), await find(inode), listings()]).toEqual(['app.log.1', 'app.log.1', 1]);
  });

  test('is listed again when the file has gone on', async () => {
    const inode = write('app.log.1');
    await find(inode);
    renameSync(inDir('app.log.1'), inDir('app.log.2'));
    expect([await find(inode), listings()]).toEqual(['app.log.2', 2]);
  });

  test('is listed once for a file that it does not hold, as long as its names stay', async () => {
    const inode = write('app.log.1');
    rmSync(inDir('app.log.1'));
    settle();
    expect([await find(inode), await find(inode), listings()]).toEqual([undefined, undefined, 1]);
    write('another.log');
    await find(inode);
    expect(listings()).toBe(2);
  });

  test('that has just changed may change once more under the same date', async () => {
    const inode = write('app.log.1');
    rmSync(inDir('app.log.1'));
    await find(inode);
    await find(inode);
    expect(listings()).toBe(2);
  });

  test('with too many names gives no answer', async () => {
    vi.mocked(names.nameBudget).mockReturnValueOnce({ most: 1, left: 1, bytes: 1_000 });
    const inode = write('app.log.1');
    write('b.log');
    await expect(find(inode)).rejects.toThrow('more than 1 names');
  });
});

test('a directory that nobody can open now is not one without the file', async () => {
  const full = Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
  vi.mocked(names.readNames).mockRejectedValueOnce(full);
  await expect(find('1')).rejects.toBe(full);
  expect(await find('1')).toBeUndefined();
});
