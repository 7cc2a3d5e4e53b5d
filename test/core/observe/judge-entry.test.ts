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

  test('is blocked when bytes have been left and nothing has moved for the blocked window', () => {
    const looks = [snapshot(0, [[at(5)]]), blocked(SECOND), blocked(10_900)];
    expect(seen(looks).files[0]?.state).toBe('behind');
    expect(seen([...looks, blocked(11_000)]).files[0]?.state).toBe('blocked');
  });

  test('that was read to its end and then removed is read', () => {
    const gone = snapshot(SECOND, [[at(5), {}]]);
    expect(seen([snapshot(0, [[at(5)]]), gone]).files[0]).toMatchObject({ state: 'missing', read: true });
    const still = snapshot(2_000, [[at(5), {}]]);
    expect(seen([snapshot(0, [[at(5)]]), gone, still]).files[0]).toMatchObject({ read: true });
  });

  test('that was away at the first look holds nothing up where Fluentd has closed it', () => {
    const closed = (when: number) => snapshot(when, [[at(50), { isClosed: true }]]);
    const unsure = (when: number) => snapshot(when, [[at(50), {}]]);
    const inTurn = [unsure(0), closed(SECOND), unsure(2_000)];
    for (const looks of [[closed(0)], [closed(0), closed(SECOND)], [unsure(0), closed(SECOND)], inTurn])
      expect(seen(looks).files[0]).toMatchObject({ state: 'missing', lag: 0, read: true });
    expect(seen([unsure(0), unsure(SECOND)]).files[0]).toMatchObject({ lag: null, read: false });
  });

  test('that had bytes left, was cut short or is new, and was then removed, is unknown, closed or not', () => {
    const closed = snapshot(SECOND, [[at(50), { isClosed: true }]]);
    const left = snapshot(0, [[at(50), fileOf(at(50), 80)]]);
    const cut = snapshot(0, [[at(50), fileOf(at(50), 30)]]);
    for (const first of [left, cut, snapshot(0, [])])
      expect(seen([first, closed, { ...closed, at: 2_000 }]).files[0]).toMatchObject({
        lag: null,
        read: false,
      });
  });

  test('that had bytes left and was then removed is unknown', () => {
    const gone = snapshot(SECOND, [[at(5), {}]]);
    expect(seen([blocked(0), gone]).files[0]).toMatchObject({ state: 'missing', lag: null, read: false });
  });

  test('that was cut short and then removed is unknown: its new lines were never read', () => {
    const cut = snapshot(0, [[at(50), fileOf(at(50), 30)]]);
    const gone = snapshot(SECOND, [[at(50), {}]]);
    expect(seen([cut, gone]).files[0]).toMatchObject({ state: 'missing', lag: null, read: false });
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
    const read = (byInode: boolean) =>
      seen([
        snapshot(
          0,
          [
            [first, look],
            [second, away],
          ],
          {
            followed: [
              { ...source, byInode },
              { ...source, posFile: '/other.pos', byInode: false },
            ],
          },
        ),
      ]).files[0]?.read;
    expect([read(true), read(false)]).toEqual([true, false]);
  });

  test('that is nowhere was never seen only where the first look did not find it', () => {
    const [missing] = seen([snapshot(0, [[entry(), {}]])]).files;
    const neverSeen = (...isFirst: readonly boolean[]) =>
      missing && rememberEntry(missing, undefined, 0, ...isFirst).neverSeen;
    expect([neverSeen(true), neverSeen(false), neverSeen()]).toEqual([true, false, false]);
  });

  test('of a path with a newer line counts only while it is on disk', () => {
    const older = entry({ inode: '6' });
    const renamed = { path: `${LOG}.1`, stat: { inode: '6', size: 100 } };
    const here = { atPath: { inode: '7', size: 100 } };
    expect(seen([snapshot(0, [[older, { ...here, renamed }], [entry()]])]).files).toHaveLength(2);
    expect(seen([snapshot(0, [[older, here], [entry()]])]).files).toMatchObject([{ inode: '7' }]);
  });
});
