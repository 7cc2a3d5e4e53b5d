import { describe, expect, test } from 'vitest';
import type { PosFileReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import { rememberEntry } from '../../../src/core/observe/judge-entry.ts';
import { entry, fileOf, LOG, POS, reading, seen, snapshot } from '../../support/builders.ts';

const SECOND = 1_000;
const at = (position: number | null) => entry({ position });
const empty: readonly PosFileReading[] = [{ path: POS, kind: 'empty' }];
const without = (when: number, posFiles: readonly PosFileReading[]): Snapshot =>
  snapshot(when, [], { posFiles });
/** A look at one entry, in a pos file that was last written so long ago. */
const written = (when: number, position: number, ago: number): Snapshot =>
  snapshot(when, [[at(position)]], { posFiles: [reading([[at(position)]], ago)] });

describe('a movement', () => {
  test('is a position that changed, in either direction', () => {
    expect(seen([snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(6)]])]).movedAt).toBe(SECOND);
    expect(seen([snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(0)]])]).movedAt).toBe(SECOND);
  });

  test('is an entry that is new', () => {
    const other = entry({ path: '/other' });
    expect(seen([snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(5)], [other]])]).movedAt).toBe(SECOND);
  });

  test('is not the same content written again', () => {
    expect(seen([written(0, 5, 0), written(SECOND, 5, 0)]).movedAt).toBe(0);
  });

  test('is not in_tail letting a file go', () => {
    expect(seen([snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(null)]])]).movedAt).toBe(0);
  });

  test('is not an entry that comes back after an empty look', () => {
    expect(seen([snapshot(0, [[at(5)]]), without(SECOND, empty), snapshot(2_000, [[at(5)]])]).movedAt).toBe(
      0,
    );
  });

  test('is dated by the pos file itself, between the look before and this one', () => {
    expect(seen([written(0, 5, 0), written(SECOND, 6, 300)]).movedAt).toBe(700);
    expect(seen([written(0, 5, 0), written(SECOND, 6, 5_000)]).movedAt).toBe(1);
    expect(seen([written(0, 5, 0), written(SECOND, 6, -5_000)]).movedAt).toBe(SECOND);
  });

  test('that the first look finds is dated by that look: what came before is not known', () => {
    expect(seen([written(SECOND, 5, 900)]).movedAt).toBe(SECOND);
  });

  test('of one entry among many is the movement of all', () => {
    const other = entry({ path: '/other' });
    const looks = [snapshot(0, [[at(5)], [other]]), snapshot(SECOND, [[at(6)], [other]])];
    expect(seen(looks).movedAt).toBe(SECOND);
  });
});

describe('a file', () => {
  const blocked = (when: number): Snapshot => snapshot(when, [[at(5), fileOf(at(5), 9)]]);
  const gone = (when: number): Snapshot => snapshot(when, [[at(5), {}]]);

  test('is blocked when bytes have been left and nothing has moved for the blocked window', () => {
    const looks = [snapshot(0, [[at(5)]]), blocked(SECOND), blocked(10_999)];
    expect(seen(looks).files[0]?.state).toBe('behind');
    expect(seen([...looks, blocked(11_000)]).files[0]?.state).toBe('blocked');
  });

  test('that was removed holds nothing up, and keeps the size that was seen last', () => {
    const missing = { state: 'missing', read: true };
    expect(seen([gone(0)]).files[0]).toMatchObject({ ...missing, lag: null });
    expect(seen([snapshot(0, [[at(5)]]), gone(SECOND)]).files[0]).toMatchObject({ ...missing, lag: 0 });
    expect(seen([blocked(0), gone(SECOND), gone(2_000)]).files[0]).toMatchObject({ ...missing, lag: 4 });
    const cut = snapshot(0, [[at(5), fileOf(at(5), 3)]]);
    expect(seen([cut, gone(SECOND)]).files[0]).toMatchObject({ ...missing, lag: null });
  });

  test('that was renamed is read to its end where the file at its path has an entry of its own', () => {
    const older = entry({ inode: '6' });
    const renamed = { path: `${LOG}.1`, stat: { inode: '6', size: 100 } };
    const look = { atPath: { inode: '7', size: 100 }, renamed };
    expect(seen([snapshot(0, [[older, look]])]).files).toMatchObject([{ state: 'rotated', read: false }]);
    const both = seen([snapshot(0, [[older, look], [entry()]])]).files;
    expect(both).toMatchObject([{ state: 'rotated', read: true }, { state: 'caught-up' }]);
  });

  test('that was renamed twice is read where the file at its path has an entry under another one: follow_inodes', () => {
    const [first, second] = [entry({ path: `${LOG}.1` }), entry({ inode: '8' })];
    const look = {
      atPath: { inode: '8', size: 100 },
      renamed: { path: `${LOG}.2`, stat: { inode: '7', size: 100 } },
    };
    const away = { renamed: { path: `${LOG}.1`, stat: { inode: '8', size: 100 } } };
    const source = { posFile: POS, refreshInterval: 60_000, files: [] };
    const read = (byInode: boolean) => {
      const followed = [
        { ...source, byInode },
        { ...source, posFile: '/other.pos', byInode: false },
      ];
      return seen([
        snapshot(
          0,
          [
            [first, look],
            [second, away],
          ],
          { followed },
        ),
      ]).files[0]?.read;
    };
    expect([read(true), read(false)]).toEqual([true, false]);
  });

  test('of a path with a newer line counts only while it is on disk', () => {
    const older = entry({ inode: '6' });
    const renamed = { path: `${LOG}.1`, stat: { inode: '6', size: 100 } };
    const here = { atPath: { inode: '7', size: 100 } };
    expect(seen([snapshot(0, [[older, { ...here, renamed }], [entry()]])]).files).toHaveLength(2);
    expect(seen([snapshot(0, [[older, here], [entry()]])]).files).toMatchObject([{ inode: '7' }]);
  });

  test('of which nothing has changed is remembered by the very same object', () => {
    const [file] = seen([blocked(0)]).files;
    const known = file && rememberEntry(file, undefined, 0);
    expect(file && rememberEntry(file, known, 5_000)).toBe(known);
    expect(known).toMatchObject({ leftSince: 0, isHere: true, size: 9 });
  });
});
