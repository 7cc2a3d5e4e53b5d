import { describe, expect, test } from 'vitest';
import { Paces } from '../../../src/core/inspect/paces.ts';
import { Track } from '../../../src/core/inspect/track.ts';
import { Looks, type Written } from '../../support/overviews.ts';

describe('the pace of a file', () => {
  test('tells rate and time to go from the last 10 s', () => {
    const track = new Track();
    expect(track.pace()).toEqual({ rate: null, eta: null });
    for (const [at, read, lag] of [
      [0, 0, 90_000],
      [12_000, 100, 3_000],
      [14_000, 2_100, 1_000],
    ] as const)
      track.add({ at, read, lag });
    expect(track.pace()).toEqual({ rate: 1_000, eta: 1_000 });
    track.add({ at: 15_000, read: 2_100, lag: 9_000 });
    expect(track.pace().eta).toBeNull();
  });

  test('knows of what has stood still how long it has, when it moves', () => {
    const track = new Track();
    for (let at = 0; at <= 100_000; at += 1_000) track.add({ at, read: 0, lag: 500 });
    expect(track.pace()).toEqual({ rate: 0, eta: null });
    track.add({ at: 101_000, read: 400, lag: 100 });
    expect(track.pace()).toEqual({ rate: 40, eta: 2_500 });
    for (let at = 102_000; at <= 200_000; at += 1_000) track.add({ at, read: 400, lag: 100 });
    expect(track.pace()).toEqual({ rate: 0, eta: null });
  });

  test('is not known where what moves was not seen for 10 s', () => {
    const track = new Track();
    for (const at of [0, 11_000]) track.add({ at, read: at, lag: 500 });
    expect(track.pace()).toEqual({ rate: null, eta: null });
  });
});

describe('the paces of all files', () => {
  test('know how much was read, also of files that have gone, were cut short or are new', () => {
    const paces = new Paces();
    const view = new Looks(paces);
    const looks: readonly Readonly<Record<string, number>>[] = [
      { a: 1_000, b: 100 },
      { a: 1_500, b: 100 },
      { b: 160, c: 40 },
      { b: 10, c: 40 },
    ];
    for (const [second, positions] of looks.entries()) {
      const files = Object.entries(positions).map(([path, position]): [string, Written] => [
        path,
        { size: 2_000, position },
      ]);
      view.look(second * 1_000, Object.fromEntries(files));
    }
    // 500 of a, 60 of b, 40 of c, and 10 of b anew: in three seconds.
    expect(paces.total.pace().rate).toBeCloseTo(610 / 3);
  });

  test('are as old as the memory of the looks: what that has forgotten they forget', () => {
    const paces = new Paces();
    const view = new Looks(paces);
    const key = (inode: number) => `/pos\t/a\t${inode}`;
    for (let inode = 1; inode <= 1_200; inode += 1)
      view.look(inode * 1_000, { '/a': { size: 10, position: inode % 7, inode } });
    expect(paces.of(key(1_200))).toBeDefined();
    expect(paces.of(key(1_100))).toBeDefined();
    expect(paces.of(key(1))).toBeUndefined();
  });
});
