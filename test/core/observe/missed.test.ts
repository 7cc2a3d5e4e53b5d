import { describe, expect, test } from 'vitest';
import type { FileLook, Snapshot } from '../../../src/core/look/snapshot.ts';
import type { PositionEntry } from '../../../src/core/pos-file/pos-file.ts';
import { entry, seen, snapshot, type Watched } from '../../support/builders.ts';
import { EMPTY, followed, MISSING, unfound } from '../worlds.ts';

const NONE = followed({});
const listing = (size: number) => unfound(size, '/log/a.log', '7');

function missed(looks: readonly Partial<Snapshot>[]) {
  const all = looks.map((look, second) => snapshot(second * 1_000, [], look));
  return seen(all)
    .progress.doubts.map(({ kind, about, bytes }) => [kind, about, bytes])
    .slice(1);
}

const gone100 = [listing(100), NONE];
const early = [
  { ...MISSING, ...listing(100) },
  { ...EMPTY, ...NONE },
];
const cut = [listing(100), listing(40)];

describe('a file with bytes that in_tail had not found', () => {
  test.each<[string, readonly Partial<Snapshot>[]]>([
    ['is doubted where it is gone', gone100],
    ['is doubted where it is shorter than it was', cut],
    ['is doubted where it was gone before there was a pos file', early],
    ['stays doubted when another file takes its place', [...gone100, listing(5)]],
  ])('%s', (_, looks) => {
    expect(missed(looks)).toEqual([['never-followed', '/log/a.log', 100]]);
  });

  test.each([
    ['however small it was', [listing(1), NONE], 1],
    ['for all that it lost, where it was cut short twice', [...cut, listing(10)], 140],
  ])('is doubted %s', (_, looks, bytes) => {
    expect(missed(looks)).toEqual([['never-followed', '/log/a.log', bytes]]);
  });

  test('is remembered with the newest thousand', () => {
    const files = Array.from({ length: 1_001 }, (_, n) => ({ path: `/${n}`, inode: `${n}`, size: 1 }));
    const found = missedIn([[], followed({ files })], [[], {}]);
    expect(found.map(({ path }) => path)).toEqual(files.slice(1).map(({ path }) => path));
  });

  test.each<[string, readonly Partial<Snapshot>[]]>([
    ['while it is there', [listing(100), listing(100), listing(120)]],
    ['where it was empty', [listing(0), NONE]],
    ['where it was empty at the look before', [listing(0), listing(0), NONE]],
    ['where nobody knows which files there are', [listing(100), followed({ unknown: 'closed' })]],
  ])('is not doubted %s', (_, looks) => {
    expect(missed(looks).filter(([kind]) => kind === 'never-followed')).toEqual([]);
  });

  type Look = readonly [files: readonly Watched[], listed: Partial<Snapshot>];
  const missedIn = (...looks: readonly Look[]) => {
    const all = looks.map(([files, listed], second) => snapshot(second * 1_000, files, listed));
    return [...seen(all).memory.departed.values()].filter(({ how }) => how !== 'left');
  };
  const of = (changes: Partial<PositionEntry>, look?: FileLook): readonly Watched[] => {
    const one = entry({ path: '/log/a.log', ...changes });
    return [look === undefined ? [one] : [one, look]];
  };
  const found = (inode: string, size: number) => of({ position: 0 }, { atPath: { inode, size } });
  const gone = { inode: '7', size: 100, how: 'gone' };
  const first: Look = [[], listing(100)];

  test('is missed if another file has the entry of its path before the next listing', () => {
    const next = of({ inode: '9', position: 5 });
    expect(missedIn(first, [next, listing(100)], [next, NONE])).toMatchObject([gone]);
  });

  test('is missed if it took the place of a found file, and is gone', () => {
    const known = of({ inode: '3' }, {});
    expect(missedIn([known, listing(100)], [known, NONE])).toMatchObject([gone]);
  });

  test('is missed if it was cut short between its listing and its entry, but not if a shorter file has its place', () => {
    expect(missedIn(first, [found('7', 0), listing(100)])).toMatchObject([{ size: 100, how: 'cut short' }]);
    expect(missedIn(first, [found('9', 5), listing(100)])).toEqual([]);
  });

  test('is not missed if its pos file is empty for an instant', () => {
    const empty = (listed: Partial<Snapshot>): Look => [[], { ...EMPTY, ...listed }];
    expect(missedIn([of({}), listing(100)], empty(listing(100)), empty(NONE))).toEqual([]);
  });
});
