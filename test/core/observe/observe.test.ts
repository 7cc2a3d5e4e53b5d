import { describe, expect, test } from 'vitest';
import type { PosFileReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import { ABSENT, entry, fileOf, POS, seen, snapshot } from '../../support/builders.ts';

const SECOND = 1_000;
const at = (position: number | null) => entry({ position });
const empty: readonly PosFileReading[] = [{ path: POS, kind: 'empty' }];
const missing: readonly PosFileReading[] = [{ path: POS, kind: 'missing' }];
const without = (when: number, posFiles: readonly PosFileReading[]): Snapshot =>
  snapshot(when, [], { posFiles });

describe('"everything read"', () => {
  const left = fileOf(at(5), 9);

  test('holds since the first look that found it', () => {
    const looks = [snapshot(0, [[at(5), left]]), snapshot(SECOND, [[at(5)]]), snapshot(2_000, [[at(5)]])];
    expect(seen(looks).readSince).toBe(SECOND);
  });

  test('holds no longer when bytes are left, and begins anew', () => {
    const other = [entry({ path: '/other' })] as const;
    const looks = [snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(5), left], other])];
    expect(seen(looks).readSince).toBeUndefined();
    expect(seen([...looks, snapshot(2_000, [[at(5)], other])]).readSince).toBe(2_000);
  });

  test('does not hold where one of two files has bytes left', () => {
    expect(seen([snapshot(0, [[at(5)], [entry({ path: '/other' }), left]])]).readSince).toBeUndefined();
  });

  test('begins anew with a movement', () => {
    expect(seen([snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(6)]])]).readSince).toBe(SECOND);
  });

  test.each([
    ['missing', missing],
    ['empty for one look', empty],
    ['unreadable', [{ path: POS, kind: 'unreadable', error: 'EIO' }]],
  ] as const)('does not hold where a pos file is %s', (_, posFiles) => {
    const isEmpty = posFiles === empty;
    expect(seen([snapshot(0, [[at(5)]]), without(SECOND, posFiles)])).toMatchObject({
      readSince: undefined,
      unknown: [{ path: POS, empty: isEmpty }],
    });
  });

  test('does not hold where a pos file has fewer entries than before', () => {
    const other = entry({ path: '/other' });
    const looks = [snapshot(0, [[at(5)], [other, fileOf(other, 999)]]), snapshot(SECOND, [[at(5)]])];
    expect(seen(looks)).toMatchObject({ readSince: undefined, unknown: [{ path: POS, empty: false }] });
    expect(seen(looks.slice(1)).unknown).toEqual([]);
  });
});

test.each([
  ['an empty file that is to be found', 0, SECOND],
  ['a file that is to be found and holds a line', 3, undefined],
  ['one that holds only its newline', 1, undefined],
  ['a file that is found', 5, SECOND, at(5)],
])(
  '"everything read" beside %s',
  (_, size, readSince, { path, inode } = entry({ path: '/new', inode: '8' })) => {
    const files = [{ path, inode, size }];
    const followed = [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }];
    expect(seen([snapshot(SECOND, [[at(5)]], { followed })]).readSince).toBe(readSince);
  },
);

test('Fluentd has started when there are pos files, and all of them exist', () => {
  expect(seen([without(0, [])]).started).toBe(false);
  expect(seen([without(0, missing)]).started).toBe(false);
  expect(seen([without(0, [...empty, ...missing])]).started).toBe(false);
  expect(seen([without(0, empty)]).started).toBe(true);
});

describe('logged', () => {
  test('is nothing while every entry stands at 0', () => {
    expect(seen([snapshot(0, [[at(0), fileOf(at(0), 50)]])]).logged).toBe(false);
  });

  test('stays true, whatever becomes of the entry', () => {
    expect(seen([snapshot(0, [[at(5)]]), without(SECOND, empty)]).logged).toBe(true);
  });
});

describe('fluentd', () => {
  const absent = (when: number): Snapshot => snapshot(when, [[at(5)]], { fluentd: ABSENT });

  test('that was never seen is not gone', () => {
    expect(seen([absent(0), absent(SECOND)]).goneSince).toBeUndefined();
  });

  test('is gone since the first look without it, and no longer when it is back', () => {
    const looks = [snapshot(0, [[at(5)]]), absent(SECOND), absent(2_000)];
    expect(seen(looks).goneSince).toBe(SECOND);
    expect(seen([...looks, snapshot(3_000, [[at(5)]])]).goneSince).toBeUndefined();
  });
});

test('the last movement is the latest of all, and stays while nothing moves', () => {
  const other = (position: number) => entry({ path: '/other', inode: '8', position });
  const looks = [
    snapshot(0, [[at(5)], [other(5)]]),
    snapshot(SECOND, [[at(6)], [other(5)]]),
    snapshot(2 * SECOND, [[at(6)], [other(6)]]),
    snapshot(3 * SECOND, [[at(6)], [other(6)]]),
  ];
  expect(looks.map((_, index) => seen(looks.slice(0, index + 1)).movedAt)).toEqual([
    0,
    SECOND,
    2 * SECOND,
    2 * SECOND,
  ]);
});

test('a look at rest does not take in everything, and takes its buffers and calls anew', () => {
  const first = snapshot(0, [[at(5)]]);
  const calls = [{ by: 'http', at: SECOND }] as const;
  const rest = { ...first, at: SECOND, depth: 'rest', buffers: undefined, requests: calls } as const;
  expect(seen([first, rest])).toMatchObject({
    at: SECOND,
    extent: 'rest',
    buffers: undefined,
    requests: calls,
  });
  expect(seen([first, { ...first, at: SECOND }]).extent).toBe('all');
});
