import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PathRules } from '../../../src/core/in-tail/path-pattern.ts';
import { listFollowed, nameBudget, rubyGlob } from '../../../src/node/files/walk.ts';
import { tempDir } from '../../support/temp-dir.ts';

const clock = { instant: Date.UTC(2026, 0, 2), minutesEast: 0 };
const at = tempDir();

function put(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), '');
  }
}

type Rules = Partial<PathRules> & { paths: string[] };

const rulesOf = ({ paths, excludePaths = [], ...rules }: Rules): PathRules => ({
  globPolicy: 'backward_compatible',
  ...rules,
  paths: paths.map((path) => `${at()}/${path}`),
  excludePaths: excludePaths.map((path) => `${at()}/${path}`),
});

async function followed(rules: Rules): Promise<string[]> {
  const { files } = await listFollowed(rulesOf(rules), clock);
  return files.map(({ path }) => path.slice(at().length + 1));
}

describe('the files that a source takes', () => {
  it('are known in part where a later path cannot be listed', async () => {
    put('a.log');
    const rules = rulesOf({ paths: ['a.log', `${'x'.repeat(300)}/*.log`] });
    expect(await listFollowed(rules, clock)).toMatchObject({
      unknown: expect.stringMatching(/^ENAMETOOLONG/),
      files: [{ path: at('a.log') }],
    });
  });

  it('are known in part where their paths take too much memory', async () => {
    put('a.log', `${'b'.repeat(200)}/${'c'.repeat(200)}.log`);
    const rules = rulesOf({ paths: ['**/*.log'] });
    const most = /^more than 1 files match, and the memory limit has room for no more: raise it/;
    const inPart = { files: [{ path: at('a.log') }], unknown: expect.stringMatching(most) };
    expect(await listFollowed(rules, clock, { room: 8_192 })).toMatchObject(inPart);
    expect(await listFollowed(rules, clock, { room: 16_384 })).toMatchObject({ files: [{}, {}] });
    expect(await listFollowed(rules, clock, { room: 16_384, alreadyKept: 3 })).toMatchObject(inPart);
  });

  it('are not known where the names to be looked at take too much memory', async () => {
    put('a/1.log', 'a/2.log', 'a/3.txt');
    const glob = (bytes: number) => rubyGlob(`${at()}/a/*.log`, { budget: nameBudget(10, bytes) });
    const each = 100 + 2 * (at().length + '/a/'.length + '1.log'.length);
    await expect(glob(2 * each - 1)).rejects.toThrow('its names need more memory than the limit allows');
    expect(await glob(2 * each)).toHaveLength(2);
  });

  it('are not known where too many names are to be looked at, in one directory or in several', async () => {
    put('a/1.log', 'b/2.log', 'b/3.txt');
    const glob = (most: number) => rubyGlob(`${at()}/*/*.log`, { budget: nameBudget(most) });
    await expect(glob(4)).rejects.toThrow('more than 4 names to look at, in');
    expect(await glob(5)).toHaveLength(2);
  });

  it('come with inode and size, sorted and once each', async () => {
    put('b.log', 'a.log');
    writeFileSync(at('b.log'), 'two\n');
    const { files } = await listFollowed(rulesOf({ paths: ['*.log', 'b.log'] }), clock);
    expect(files.map(({ path }) => path)).toEqual([at('a.log'), at('b.log')]);
    expect(files[1]).toMatchObject({ inode: String(statSync(at('b.log')).ino), size: 4 });
  });

  it('are regular files that are there', async () => {
    put('a.log');
    mkdirSync(at('directory.log'));
    symlinkSync('a.log', at('link.log'));
    symlinkSync('gone', at('broken.log'));
    spawnSync('mkfifo', [at('fifo.log')]);
    const paths = ['*.log', 'missing.log', 'directory.log'];
    expect(await followed({ paths })).toEqual(['a.log', 'link.log']);
  });

  it('are not older than limit_recently_modified, where a glob finds them', async () => {
    const old = new Date(clock.instant - 7_200_000);
    put('old.log', 'new.log');
    utimesSync(at('old.log'), old, old);
    const limitRecentlyModified = 3_600_000;
    expect(await followed({ paths: ['*.log'], limitRecentlyModified })).toEqual(['new.log']);
    expect(await followed({ paths: ['old.log'], limitRecentlyModified })).toEqual(['old.log']);
  });

  it('are not looked for below symbolic links by **, but by *', async () => {
    put('real/sub/x.log');
    symlinkSync('real', at('link'));
    expect(await followed({ paths: ['**/x.log'] })).toEqual(['real/sub/x.log']);
    expect(await followed({ paths: ['*/sub/x.log'] })).toEqual(['link/sub/x.log', 'real/sub/x.log']);
  });

  it('may have names that are not UTF-8', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${at()}/b`), Buffer.from([0xff]), Buffer.from('.log')]), 'x');
    expect(await followed({ paths: ['*.log'] })).toEqual(['b\udcff.log']);
    expect(await followed({ paths: ['b\udcff.log'] })).toEqual(['b\udcff.log']);
  });

  it('are nothing where the directory is missing', async () => {
    expect(await followed({ paths: ['nothing/**/*.log'] })).toEqual([]);
  });
});
