import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { entry, fileOf, seen, snapshot } from '../../support/builders.ts';
import { EMPTY, followed } from '../worlds.ts';

const SECOND = 1_000;
const at = (position: number | null) => entry({ position });
const other = entry({ path: '/other' });
const look = (when: number, position: number | null): Snapshot => snapshot(when, [[at(position)]]);

describe('a movement', () => {
  test.each<[string, readonly Snapshot[]]>([
    ['a position that went on', [look(0, 5), look(SECOND, 6)]],
    ['a position that went back', [look(0, 5), look(SECOND, 0)]],
    ['an entry that is new', [look(0, 5), snapshot(SECOND, [[at(5)], [other]])]],
    ['that of one entry among many', [snapshot(0, [[at(5)], [other]]), snapshot(SECOND, [[at(6)], [other]])]],
  ])('is %s', (_, looks) => {
    expect(seen(looks).movedAt).toBe(SECOND);
  });

  test.each<[string, readonly Snapshot[]]>([
    ['the same content written again', [look(0, 5), look(SECOND, 5)]],
    ['in_tail letting a file go', [look(0, 5), look(SECOND, null)]],
    ['an entry that is back after an empty look', [look(0, 5), snapshot(SECOND, [], EMPTY), look(2_000, 5)]],
  ])('is not %s', (_, looks) => {
    expect(seen(looks).movedAt).toBe(0);
  });
});

describe('a file', () => {
  const blocked = (when: number): Snapshot => snapshot(when, [[at(5), fileOf(at(5), 9)]]);

  test('is blocked when bytes have been left and nothing has moved for the blocked window', () => {
    const looks = [look(0, 5), blocked(SECOND), blocked(10_999)];
    expect(seen(looks).files[0]?.state).toBe('behind');
    expect(seen([...looks, blocked(11_000)]).files[0]?.state).toBe('blocked');
  });

  test('whose entry a later one of the same path replaces counts only if it was seen at its path', () => {
    const [older, newer] = [entry({ position: 5 }), entry({ inode: '8' })];
    const atPath = { inode: '8', size: 100 };
    const both = (when: number) =>
      snapshot(when, [
        [older, { atPath }],
        [newer, { atPath }],
      ]);
    expect(seen([both(0)]).files).toMatchObject([{ inode: '8' }]);
    const rotated = { inode: '7', state: 'rotated', lag: 4, read: true };
    expect(seen([blocked(0), both(SECOND)]).files).toMatchObject([rotated, { state: 'caught-up' }]);
  });

  test('whose path has a file with an entry under another path is replaced only with follow_inodes', () => {
    const rotated = { atPath: { inode: '8', size: 100 } };
    const elsewhere = entry({ path: '/other', inode: '8' });
    const read = (byInode: boolean) =>
      seen([snapshot(0, [[entry(), rotated], [elsewhere]], followed({ byInode }))]).files[0]?.read;
    expect([read(true), read(false)]).toEqual([true, false]);
  });
});
