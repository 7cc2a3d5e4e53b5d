import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { progressOf } from '../../../src/core/observe/progress-of.ts';
import { entry, POS, policy, seen, snapshot, type Watched } from '../../support/builders.ts';
import { sight } from '../../support/said.ts';
import { alive, gone } from '../../support/witnesses.ts';

const EMPTY: Partial<Snapshot> = { posFiles: [{ path: POS, kind: 'empty' }] };
const MISSING: Partial<Snapshot> = { posFiles: [{ path: POS, kind: 'missing' }] };

/** What in_tail is to follow: one file of this size, or none. */
function listing(size?: number): Partial<Snapshot> {
  const files = size === undefined ? [] : [{ path: '/log/a.log', inode: '7', size }];
  return { followed: [{ posFile: POS, refreshInterval: 0, byInode: false, files }] };
}

function missed(looks: readonly Partial<Snapshot>[], said: object = { files: [] }) {
  const testimony = { at: 0, witnesses: [gone({ closed: [] }), alive(said)] };
  const all = looks.map((look, second) => snapshot(second * 1_000, [], { ...look, testimony }));
  return progressOf(seen(all), policy()).doubts.map(({ kind, about, bytes }) => [kind, about, bytes]);
}

function missedIn(looks: readonly Snapshot[]) {
  return [...seen(looks).memory.departed.values()].filter(({ how }) => how !== 'left');
}

const NEVER_FOLLOWED = [['never-followed', '/log/a.log', 100]];

describe('a file with bytes that in_tail had not found', () => {
  test.each([
    ['is doubted where it is gone', [listing(100), listing()]],
    ['is doubted where it is shorter than it was', [listing(100), listing(40)]],
    [
      'is doubted where it was gone before there was a pos file',
      [
        { ...MISSING, ...listing(100) },
        { ...EMPTY, ...listing() },
      ],
    ],
    ['stays doubted when another file takes its place', [listing(100), listing(), listing(5)]],
  ])('%s', (_, looks) => {
    expect(missed(looks)).toEqual(NEVER_FOLLOWED);
  });

  test('is doubted however small it was', () => {
    expect(missed([listing(1), listing()])).toEqual([['never-followed', '/log/a.log', 1]]);
  });

  test('is doubted for all that it lost, where it was cut short twice', () => {
    expect(missed([listing(100), listing(40), listing(10)])).toEqual([['never-followed', '/log/a.log', 140]]);
  });

  test('is remembered with the newest thousand', () => {
    const files = Array.from({ length: 1_001 }, (_, n) => ({ path: `/${n}`, inode: `${n}`, size: 1 }));
    const followed = [{ posFile: POS, refreshInterval: 0, byInode: false, files }];
    const looks = [snapshot(0, [], { followed }), snapshot(1_000, [])];
    expect(missedIn(looks).map(({ path }) => path)).toEqual(files.slice(1).map(({ path }) => path));
  });

  test.each([
    ['is not doubted while it is there', [listing(100), listing(100), listing(120)]],
    ['is not doubted where it was empty', [listing(0), listing()]],
    ['is not doubted where it was empty at the look before', [listing(0), listing(0), listing()]],
    [
      'is not doubted where nobody knows which files there are',
      [
        listing(100),
        { followed: [{ posFile: POS, refreshInterval: 0, byInode: false, files: [], unknown: 'closed' }] },
      ],
    ],
  ])('%s', (_, looks) => {
    expect(missed(looks).filter(([kind]) => kind === 'never-followed')).toEqual([]);
  });

  test('is not doubted where a witness saw that in_tail followed it', () => {
    expect(missed([listing(100), listing()], { files: [], closed: [sight()] })).toEqual([]);
    const lost = [{ path: '/log/a.log', why: 'closed' }];
    expect(missed([listing(100), listing()], { files: [], lost })).toEqual([
      ['closed-unread', '/log/a.log', undefined],
    ]);
  });

  test('is doubted where another file has the entry of its path before it is listed anew', () => {
    const other: Watched = [entry({ path: '/log/a.log', inode: '9', position: 5 })];
    const all = [
      snapshot(0, [], listing(100)),
      snapshot(1_000, [other], listing(100)),
      snapshot(2_000, [other], listing()),
    ];
    expect(missedIn(all)).toMatchObject([{ inode: '7', size: 100, how: 'gone' }]);
  });

  test('is doubted where it was cut short between its listing and its entry', () => {
    const found: Watched = [entry({ path: '/log/a.log', position: 0 }), { atPath: { inode: '7', size: 0 } }];
    const all = [snapshot(0, [], listing(100)), snapshot(1_000, [found], listing(100))];
    expect(missedIn(all)).toMatchObject([{ size: 100, how: 'cut short' }]);
  });

  test('is not taken for shorter because a shorter one has taken its place', () => {
    const found: Watched = [entry({ path: '/log/a.log', position: 0 }), { atPath: { inode: '9', size: 5 } }];
    const all = [snapshot(0, [], listing(100)), snapshot(1_000, [found], listing(100))];
    expect(missedIn(all)).toEqual([]);
  });

  test('is doubted where it took the place of one that in_tail had found, and is gone', () => {
    const known: Watched = [entry({ path: '/log/a.log', inode: '3' }), {}];
    const all = [snapshot(0, [known], listing(100)), snapshot(1_000, [known], listing())];
    expect(missedIn(all)).toMatchObject([{ inode: '7', size: 100, how: 'gone' }]);
  });

  test('is doubted where in_tail found it only after it was cut short', () => {
    expect(missed([listing(100), listing(40)], { files: [sight({ pos: 40, size: 40 })] })).toEqual(
      NEVER_FOLLOWED,
    );
    expect(missed([listing(100), listing(40)], { cuts: [{ ...sight(), had: 100 }] })).toEqual([]);
    expect(missed([listing(100), listing(40)], { cuts: [{ ...sight(), had: 99 }] })).toEqual(NEVER_FOLLOWED);
  });

  test('is not taken for one where the pos file that knew it is empty for an instant', () => {
    const known = snapshot(0, [[entry({ path: '/log/a.log' })]], listing(100));
    const looks = [
      known,
      snapshot(1_000, [], { ...EMPTY, ...listing(100) }),
      snapshot(2_000, [], { ...EMPTY, ...listing() }),
    ];
    expect(missedIn(looks)).toEqual([]);
  });
});
