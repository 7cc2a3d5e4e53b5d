import { expect, test } from 'vitest';
import { diagnose } from '../../../src/core/inspect/pos-file-diagnosis.ts';
import { latestIn, type PositionEntry } from '../../../src/core/pos-file/pos-file.ts';
import { foundOf, type Written } from '../../support/overviews.ts';

const diagnosed = (lines: readonly PositionEntry[], byInode?: boolean) =>
  diagnose({ ...latestIn('/pos', lines), unparsable: [] }, byInode, []);

const found = (lines: readonly PositionEntry[], byInode?: boolean) =>
  diagnosed(lines, byInode).map(({ what, count }) => `${what} ${count}`);

const line = (path: string, inode: number, position: number | null = 1): PositionEntry => ({
  path,
  position,
  inode: String(inode),
});

test('a pos file in good order gives no finding', () => {
  for (const byInode of [true, false, undefined])
    expect(found([line('/a', 1), line('/b', 2), line('/b', 3, null)], byInode)).toEqual([]);
});

test('a watched path with two entries is reported, if entries belong to paths', () => {
  const lines = [line('/a', 1), line('/a', 2), line('/a', 3), line('/b', 4)];
  expect(found(lines, false)).toEqual(['duplicated 1']);
  expect(found(lines, true)).toEqual([]);
  expect(found(lines)).toEqual([]);
});

test('a watched inode with two entries is reported, if entries belong to inodes', () => {
  const lines = [line('/a', 1), line('/a.1', 1)];
  expect(found(lines, true)).toEqual(['duplicated 1']);
  expect(found(lines, false)).toEqual([]);
});

test('entries with the same path and inode are reported in any case', () => {
  for (const byInode of [true, false, undefined])
    expect(diagnosed([line('/a', 1), line('/a', 1)], byInode)[0]?.why).toMatch(
      /^1 (path|inode) with several entries, a sign of another Fluentd.*fluentd#3614/,
    );
});

test('many dead lines are reported with the bytes that a compaction saves', () => {
  const dead = Array.from({ length: 150 }, (_, at) => line(`/${100 + at}`, at + 1, null));
  expect(found(dead.slice(0, 99))).toEqual([]);
  // `/100`, two tabs, two numbers of 16 digits and a newline are 39 bytes.
  expect(diagnosed([line('/a', 999), ...dead])).toEqual([
    { what: 'dead', count: 150, why: '150 of 151 lines are dead, 5.7 KiB: set pos_file_compaction_interval' },
  ]);
});

const damageIn = (texts: readonly string[], files: Readonly<Record<string, Written>> = {}) =>
  diagnose(
    { entries: [], replaced: [], unparsable: texts.map((text, at) => ({ line: at + 1, text })) },
    undefined,
    foundOf(files).seen.files,
  );

test('lines that another writer has broken are damage, and so are those that it gave a path without a file', () => {
  const files = {
    '/app.log': { size: 600, position: 300, inode: 5 },
    '/ap000000': { size: null, position: 300, inode: 5 },
    '/gone.log': { size: null, position: 300, inode: 6 },
  };
  expect(damageIn(['/b.log\t00000'], files)).toEqual([
    {
      what: 'damaged',
      count: 2,
      why:
        'damaged: 1 line that cannot be parsed and 1 line with no file and the inode of another line, ' +
        'a sign of another Fluentd that writes this pos file, too, so that lines arrive twice, or of a crash of the machine',
    },
  ]);
});

test('a line with no file alone may be that of a file that was renamed', () => {
  const twoOf = { '/a': { size: 1, position: 1 }, '/a.1': { size: null, position: 1 } };
  expect(damageIn([], twoOf)[0]?.why).toMatch(/a sign of another Fluentd.*, or of a file that was renamed$/);
});

test('a torn last line is no damage', () => {
  const unparsable = [{ line: 1, text: '/a\t00', torn: true }] as const;
  expect(diagnose({ entries: [], replaced: [], unparsable }, undefined, [])).toEqual([]);
});
