import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { check } from '../../../src/core/inspect/check.ts';
import { History, Track } from '../../../src/core/inspect/history.ts';
import { placesOf, rowsOf, SORT_KEYS, type SortKey } from '../../../src/core/inspect/order.ts';
import { type Overview, overview, summaryOf } from '../../../src/core/inspect/overview.ts';
import { InspectedRows, judge, NO_PAST } from '../../../src/core/inspect/rows.ts';
import type { FileLook } from '../../../src/core/look/snapshot.ts';
import { EntryRows } from '../../../src/core/pos-file/entry-rows.ts';
import { parsePosFile } from '../../../src/core/pos-file/pos-file.ts';
import { whyUnparsable } from '../../../src/core/pos-file/pos-line.ts';
import { formatAge } from '../../../src/core/text/age.ts';
import { bytesOf } from '../../support/arbitraries.ts';
import { entry, inspectedPosFile, posText } from '../../support/builders.ts';

interface Written {
  /** null: there is no such file. */
  readonly size: number | null;
  readonly position: number;
  readonly age?: number;
}

const NOW = { past: NO_PAST, succeeded: false, posFileAge: 0 };

describe('the judgement of one look', () => {
  const look = (size: number, writtenAgo: number): FileLook => ({
    atPath: { inode: '7', size, writtenAgo },
    newlineLeft: true,
  });

  test('is blocked where pos file and log have both stood still for the blocked window', () => {
    const blocked = { ...NOW, posFileAge: 10_000 };
    expect(judge(entry(), look(200, 10_000), blocked).state).toBe('blocked');
    expect(judge(entry(), look(200, 9_999), blocked).state).toBe('behind');
    expect(judge(entry(), look(200, 60_000), { ...NOW, posFileAge: 9_999 }).state).toBe('behind');
  });

  test('dates what is read by the log, what is left by the pos file, and either by what was seen', () => {
    expect(judge(entry(), look(100, 5_000), { ...NOW, posFileAge: 20 }).age).toBe(5_000);
    expect(judge(entry(), look(200, 5_000), { ...NOW, posFileAge: 20 }).age).toBe(20);
    const past = { ...NO_PAST, movedAgo: 300 };
    expect(judge(entry(), look(200, 5_000), { ...NOW, past }).age).toBe(300);
  });
});

describe('the history of a live view', () => {
  const behind = { state: 'behind', size: 200, lag: 100, read: false, age: 0 } as const;

  test('finds an entry blocked that has stood still with bytes left for the whole window', () => {
    const history = new History(1_000);
    for (const at of [0, 500]) {
      history.begin(at);
      expect(history.past('a', entry()).stuck).toBe(false);
      history.remember('a', entry(), behind);
    }
    history.begin(1_000);
    expect(history.past('a', entry())).toEqual({ lastSize: 200, stuck: true, movedAgo: null });
    expect(history.past('a', entry({ position: 101 }))).toEqual({ lastSize: 200, stuck: false, movedAgo: 0 });
  });

  test('counts the window from when bytes were first left', () => {
    const history = new History(1_000);
    history.begin(0);
    history.remember('a', entry(), { ...behind, state: 'caught-up', size: 100, lag: 0, read: true });
    history.begin(900);
    history.remember('a', entry(), behind);
    history.begin(1_500);
    expect(history.past('a', entry()).stuck).toBe(false);
  });

  test('remembers the size that a file had before it was missing, and forgets what is gone', () => {
    const history = new History();
    history.begin(0);
    history.remember('a', entry(), behind);
    history.begin(1);
    history.remember('a', entry(), { ...behind, state: 'missing', size: null, lag: null });
    history.begin(2);
    expect(history.past('a', entry()).lastSize).toBe(200);
    history.begin(3);
    history.begin(4);
    expect(history.past('a', entry()).lastSize).toBeNull();
  });

  test('tells rate and time to go from the last 5 s', () => {
    const track = new Track();
    expect(track.pace()).toEqual({ rate: null, eta: null, lags: [] });
    for (const [at, read, lag] of [
      [0, 0, 9_000],
      [10_000, 100, 3_000],
      [12_000, 2_100, 1_000],
    ] as const)
      track.add({ at, read, lag });
    expect(track.pace()).toEqual({ rate: 1_000, eta: 1_000, lags: [9_000, 3_000, 1_000] });
    track.add({ at: 13_000, read: 2_100, lag: 9_000 });
    expect(track.pace().eta).toBeNull();
  });

  test('knows of what has stood still how long it has, when it moves', () => {
    const track = new Track();
    for (let at = 0; at <= 100_000; at += 1_000) track.add({ at, read: 0, lag: 500 });
    expect(track.pace()).toEqual({ rate: 0, eta: null, lags: Array(60).fill(500) });
    track.add({ at: 101_000, read: 400, lag: 100 });
    expect(track.pace()).toEqual({ rate: 80, eta: 1_250, lags: [...Array(59).fill(500), 100] });
    for (let at = 102_000; at <= 200_000; at += 1_000) track.add({ at, read: 400, lag: 100 });
    expect(track.pace()).toEqual({ rate: 0, eta: null, lags: Array(60).fill(100) });
  });

  test('tells no rate where looks lie further apart than 5 s', () => {
    const track = new Track();
    for (const at of [0, 6_000, 12_000]) track.add({ at, read: 0, lag: 500 });
    expect(track.pace()).toEqual({ rate: null, eta: null, lags: [500, 500, 500] });
    track.add({ at: 18_000, read: 400, lag: 100 });
    expect(track.pace()).toEqual({ rate: null, eta: null, lags: [500, 500, 500, 100] });
  });

  test.each([
    ['stands still takes next to nothing', 0, 256],
    ['moves at each look takes 2 KiB at most', 1, 2_048],
  ])('an entry that %s, however often it is looked at', (_, by, most) => {
    const count = 5_000;
    const history = new History();
    const before = memoryInUse();
    for (let look = 0; look < 100; look += 1) {
      history.begin(look * 1_000);
      for (let file = 0; file < count; file += 1) {
        const position = 1e10 + look * by;
        const judgement = { ...behind, size: 1e11, lag: 1e11 - position };
        history.remember(String(file), entry({ position }), judgement);
      }
    }
    expect((memoryInUse() - before) / count).toBeLessThan(most + 512);
    expect(history.pace('0').lags).toHaveLength(60);
  });
});

describe('the order', () => {
  const files = {
    '/c': { size: 100, position: 100, age: 9 },
    '/a': { size: 100, position: 10, age: 5 },
    '/b': { size: 50, position: 20, age: 7 },
  };

  test.each<[SortKey, string]>([
    ['lag', '/a /b /c'],
    ['file', '/a /b /c'],
    ['state', '/a /b /c'],
    ['read', '/a /b /c'],
    ['size', '/c /a /b'],
    ['position', '/c /b /a'],
    ['age', '/c /b /a'],
  ])('by %s is %s, in one pos file and over several', (sort, order) => {
    expect(SORT_KEYS).toContain(sort);
    const found = overviewOf(files);
    const [posFile] = found.posFiles;
    const rows = posFile && Array.from(rowsOf(posFile.entries, { states: undefined, sort }));
    expect(rows?.map((row) => posFile?.entries.rows.path(row)).join(' ')).toBe(order);
    const apart = Object.entries(files).map(([path, file]) => overviewOf({ [path]: file }).posFiles);
    const places = placesOf({ ...found, posFiles: apart.flat() }, { states: undefined, sort });
    const names = places.map(({ posFile, row }) => posFile.entries.rows.path(row));
    if (sort !== 'state' && sort !== 'size') expect(names.join(' ')).toBe(order);
    else expect(names[0]).toBe(order.split(' ')[0]);
  });

  test('leaves out other states', () => {
    const entries = overviewOf(files).posFiles[0]?.entries as InspectedRows;
    expect(rowsOf(entries, { states: ['behind'], sort: undefined })).toHaveLength(2);
    expect(rowsOf(entries, { states: ['undiscovered'], sort: undefined })).toHaveLength(0);
  });
});

describe('the summary and the check', () => {
  const left = overviewOf({
    '/a': { size: 3_000, position: 0, age: 60_000 },
    '/b': { size: 5, position: 5 },
  });

  test('tell how much is left in how many files', () => {
    expect(summaryOf(left)).toBe('behind by 2.9 KiB in 1 of 2 files');
    expect(summaryOf(overviewOf({}))).toBe('caught up: 0 files');
  });

  test('name no bytes where of no file that is left the lag is known', () => {
    const gone = { size: null, position: 0 };
    expect(summaryOf(overviewOf({ '/a': gone, '/b': { size: 5, position: 5 } }))).toBe(
      'not known how much is left of 1 of 2 files',
    );
    expect(summaryOf(overviewOf({ '/a': gone, '/b': { size: 5, position: 1 } }))).toBe(
      'behind by at least 4 B in 2 of 2 files',
    );
  });

  test('hold the lag and the age against their limits', () => {
    expect(check(left, { lag: 3_000, age: undefined }).passed).toBe(true);
    expect(check(left, { lag: 2_999, age: undefined })).toEqual({
      passed: false,
      reason: 'behind by 2.9 KiB in 1 of 2 files; 2.9 KiB may be left',
    });
    expect(check(left, { lag: undefined, age: 60_000 }).passed).toBe(true);
    expect(check(left, { lag: undefined, age: 59_999 })).toEqual({
      passed: false,
      reason: 'behind by 2.9 KiB in 1 of 2 files; /a has not moved for 60 s, 60 s may pass',
    });
  });

  test('never pass where something is unknown', () => {
    const posFile = { ...left.posFiles[0], path: '/x.pos', error: 'it is a directory' };
    const broken = overview({
      posFiles: [posFile as Overview['posFiles'][0]],
      undiscovered: [],
      unlisted: [],
      buffers: undefined,
    });
    expect(check(broken, { lag: 1e9, age: undefined })).toMatchObject({
      passed: false,
      reason: expect.stringMatching(/^not known: \/x\.pos: it is a directory; behind by at least 2\.9 KiB/),
    });
  });
});

test.each([
  ['', 'it is empty'],
  ['\0\0', 'nothing but NUL bytes, as a crash of the machine leaves them'],
  ['abc', 'it holds no tab'],
  ['\t1\t2', 'its path is empty'],
  ['a\tx\t2', 'its position is no hexadecimal number'],
  ['a\t1', 'it holds no inode'],
  ['a\t1\tx', 'its inode is no hexadecimal number'],
])('the line %j is unparsable because %s', (text, why) => {
  expect(parsePosFile(bytesOf(`${text}\n`)).unparsable).toHaveLength(1);
  expect(whyUnparsable({ text })).toBe(why);
});

test('a line that no newline ends is torn, whatever stands in it', () => {
  for (const text of ['', 'a\t1', 'a\t1\t2'])
    expect(whyUnparsable({ text, torn: true })).toMatch(/^it is torn/);
});

test('an age fits a narrow column', () => {
  expect([0, 59_999, 60_000, 7_200_000, 1e9].map(formatAge)).toEqual(['0s', '59s', '1m', '2h', '11d']);
});

/** Bytes, when what is not used any more has been cleared away. */
function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function overviewOf(files: Readonly<Record<string, Written>>): Overview {
  const lines = Object.entries(files).map(([path, { position }]) => ({ path, position, inode: 7 }));
  const entries = new InspectedRows(new EntryRows(bytesOf(posText(lines))));
  for (const [row, { size, age = 0 }] of Object.values(files).entries()) {
    const look: FileLook =
      size === null ? {} : { atPath: { inode: '7', size, writtenAgo: age }, newlineLeft: true };
    entries.show(row, judge(entries.rows.entry(row), look, { ...NOW, posFileAge: age }));
  }
  const posFile = inspectedPosFile(entries, { path: '/pos' });
  return overview({ posFiles: [posFile], undiscovered: [], unlisted: [], buffers: undefined });
}
