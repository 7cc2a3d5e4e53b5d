import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nameBudget } from '../../../src/node/files/names.ts';
import { type FollowRules, listFollowed, rubyGlob } from '../../../src/node/files/walk.ts';

const clock = { instant: Date.UTC(2026, 0, 2), timeZone: 'UTC' };
let dir = '';

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'posidle-walk-'));
});

afterEach(() => rmSync(dir, { recursive: true }));

function put(path: string, text = ''): string {
  mkdirSync(join(dir, path, '..'), { recursive: true });
  writeFileSync(join(dir, path), text);
  return path;
}

async function followed(rules: Partial<FollowRules> & { paths: string[] }): Promise<string[]> {
  const inDir = (paths: readonly string[] = []) => paths.map((path) => `${dir}/${path}`);
  const files = await listFollowed(
    {
      globPolicy: 'backward_compatible',
      ...rules,
      paths: inDir(rules.paths),
      excludePaths: inDir(rules.excludePaths),
    },
    clock,
  );
  return files.map(({ path }) => path.slice(dir.length + 1));
}

describe('the files that a source takes', () => {
  it('are not known where they are too many', async () => {
    for (const name of ['a.log', 'b.log', 'c.txt']) put(name);
    const rules = { globPolicy: 'backward_compatible', paths: [`${dir}/*.log`], excludePaths: [] } as const;
    await expect(listFollowed(rules, clock, { mostFiles: 1 })).rejects.toThrow(
      'more than 1 files match, and the memory limit has room for no more: raise it, or use a narrower path',
    );
    expect(await listFollowed(rules, clock, { mostFiles: 2 })).toHaveLength(2);
  });

  it('are not known where their paths take too much memory', async () => {
    for (const name of ['a.log', `${'b'.repeat(200)}/${'c'.repeat(200)}.log`]) put(name);
    const rules = {
      globPolicy: 'backward_compatible',
      paths: [`${dir}/**/*.log`],
      excludePaths: [],
    } as const;
    await expect(listFollowed(rules, clock, { room: 8_192 })).rejects.toThrow('more than 1 files match');
    expect(await listFollowed(rules, clock, { room: 16_384 })).toHaveLength(2);
    const shared = listFollowed(rules, clock, { room: 16_384, besides: 3 });
    await expect(shared).rejects.toThrow('more than 1 files match');
  });

  it('are not known where the names to be looked at take too much memory', async () => {
    for (const name of ['a/1.log', 'a/2.log', 'a/3.txt']) put(name);
    const glob = (bytes: number) => rubyGlob(`${dir}/a/*.log`, { budget: nameBudget(10, bytes) });
    const each = 100 + 2 * (dir.length + '/a/'.length + '1.log'.length);
    await expect(glob(2 * each - 1)).rejects.toThrow(
      'its names take more memory than the limit has room for',
    );
    expect(await glob(2 * each)).toHaveLength(2);
  });

  it('are not known where too many names are to be looked at, in one directory or in several', async () => {
    for (const name of ['a/1.log', 'b/2.log', 'b/3.txt']) put(name);
    const glob = (most: number) => rubyGlob(`${dir}/*/*.log`, { budget: nameBudget(most) });
    await expect(glob(4)).rejects.toThrow('more than 4 names to look at, in');
    expect(await glob(5)).toHaveLength(2);
  });

  it('come with inode and size, sorted and once each', async () => {
    put('b.log', 'two\n');
    put('a.log');
    const rules = {
      paths: [`${dir}/*.log`, `${dir}/b.log`],
      excludePaths: [],
      globPolicy: 'backward_compatible',
    } as const;
    const files = await listFollowed(rules, clock);
    expect(files.map(({ path }) => path)).toEqual([`${dir}/a.log`, `${dir}/b.log`]);
    expect(files[1]).toMatchObject({ inode: String(statSync(`${dir}/b.log`).ino), size: 4 });
  });

  it('are regular files that are there', async () => {
    put('a.log');
    mkdirSync(join(dir, 'directory.log'));
    symlinkSync('a.log', join(dir, 'link.log'));
    symlinkSync('gone', join(dir, 'broken.log'));
    spawnSync('mkfifo', [join(dir, 'fifo.log')]);
    expect(await followed({ paths: ['*.log', 'missing.log', 'directory.log'] })).toEqual([
      'a.log',
      'link.log',
    ]);
  });

  it('are not those that are left out', async () => {
    for (const path of ['a.log', 'b.log', 'c/d.log', 'e.log']) put(path);
    expect(await followed({ paths: ['**/*.log'], excludePaths: ['b.log', 'c/*'] })).toEqual([
      'a.log',
      'e.log',
    ]);
  });

  it('have the dates of now in their names', async () => {
    put('app-20260102.log');
    put('app-20260101.log');
    expect(await followed({ paths: ['app-%Y%m%d.log'] })).toEqual(['app-20260102.log']);
    expect(await followed({ paths: ['app-%Y%m%d.log'], pathTimezone: '-01:00' })).toEqual([
      'app-20260101.log',
    ]);
  });

  it('are not older than limit_recently_modified, where a glob finds them', async () => {
    const old = new Date(clock.instant - 7_200_000);
    for (const path of ['old.log', 'new.log']) put(path);
    utimesSync(join(dir, 'old.log'), old, old);
    const limitRecentlyModified = 3_600_000;
    expect(await followed({ paths: ['*.log'], limitRecentlyModified })).toEqual(['new.log']);
    expect(await followed({ paths: ['old.log'], limitRecentlyModified })).toEqual(['old.log']);
  });

  it('are not looked for below symbolic links by **, but by *', async () => {
    put('real/sub/x.log');
    symlinkSync('real', join(dir, 'link'));
    expect(await followed({ paths: ['**/x.log'] })).toEqual(['real/sub/x.log']);
    expect(await followed({ paths: ['*/sub/x.log'] })).toEqual(['link/sub/x.log', 'real/sub/x.log']);
  });

  it('may have names that are not UTF-8', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/b`), Buffer.from([0xff]), Buffer.from('.log')]), 'x');
    expect(await followed({ paths: ['*.log'] })).toEqual(['b\udcff.log']);
    expect(await followed({ paths: ['b\udcff.log'] })).toEqual(['b\udcff.log']);
  });

  it('are nothing where the directory is missing', async () => {
    expect(await followed({ paths: ['nothing/**/*.log'] })).toEqual([]);
  });
});
