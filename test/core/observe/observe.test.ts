import { describe, expect, test } from 'vitest';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import { NO_BUFFERS } from '../../../src/core/fluentd/buffer-contents.ts';
import type { PosFileReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import {
  ABSENT,
  entry,
  fileOf,
  LOG,
  outputReading,
  POS,
  policy,
  seen,
  snapshot,
  told,
} from '../../support/builders.ts';

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
    const looks = [snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(5), left]])];
    expect(seen(looks).readSince).toBeUndefined();
    expect(seen([...looks, snapshot(2_000, [[at(5)]])]).readSince).toBe(2_000);
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
])('"everything read" beside %s', (_, size, readSince) => {
  const files = [{ path: '/new', inode: '8', size }];
  const followed = [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }];
  expect(seen([snapshot(SECOND, [[at(5)]], { followed })]).readSince).toBe(readSince);
});

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

describe('a file that Fluentd may not read', () => {
  const rules = policy({ tail: { ...DEFAULT_TAIL, refreshInterval: 10_000 } });
  const closed = { closed: new Set([LOG]) };
  const looks = (position: number, until: number) =>
    [0, until].map((when) => snapshot(when, [[at(position), fileOf(at(position), 9)]], closed));
  const stateOf = (position: number, until: number) => seen(looks(position, until), rules).files[0]?.state;

  test('is taken for it after two refresh intervals, and waited for no longer', () => {
    expect(stateOf(0, 19_999)).toBe('blocked');
    expect(stateOf(0, 20_000)).toBe('unreadable');
    expect(seen(looks(0, 20_000), rules)).toMatchObject({
      readSince: 20_000,
      files: [{ lag: 9, read: true }],
    });
  });

  test('is not one of which it has read a byte', () => {
    expect(stateOf(1, 20_000)).toBe('blocked');
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

test('a look at rest is not whole, and takes its buffers and calls anew', () => {
  const first = snapshot(0, [[at(5)]]);
  const calls = [{ by: 'http', at: SECOND }] as const;
  const rest = { ...first, at: SECOND, depth: 'rest', buffers: undefined, requests: calls } as const;
  expect(seen([first, rest])).toMatchObject({
    at: SECOND,
    isWhole: false,
    buffers: undefined,
    requests: calls,
  });
  expect(seen([first, { ...first, at: SECOND }]).isWhole).toBe(true);
});

test('looks at rest keep the account of an output', () => {
  const first = snapshot(0, [[at(5)]]);
  const holding = (chunks: number) => ({
    ...NO_BUFFERS,
    none: false,
    agents: new Map([[0, '4243 4242']]),
    outputs: [outputReading({ told: told({ chunks }) })],
  });
  const looks = [3, 3, 1, 1].map((chunks, index) => ({
    ...first,
    at: index * SECOND,
    buffers: holding(chunks),
  }));
  const [account] = seen(looks).memory.ledger.accounts.values();
  expect(account?.thrownAway.chunks).toBe(2);
});
