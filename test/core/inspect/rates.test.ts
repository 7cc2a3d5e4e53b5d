import { describe, expect, test } from 'vitest';
import { Rate, Rates } from '../../../src/core/inspect/rates.ts';
import { POS } from '../../support/builders.ts';
import { Looks, type Written } from '../../support/overviews.ts';
import { unreadable } from '../worlds.ts';

describe('the rate of a file', () => {
  test('tells rate and time to go from the last 10 s', () => {
    const rate = new Rate();
    expect(rate.pace()).toEqual({ rate: null, eta: null });
    for (const [at, read, lag] of [
      [0, 0, 90_000],
      [12_000, 100, 3_000],
      [14_000, 2_100, 1_000],
    ] as const)
      rate.add({ at, read, lag });
    expect(rate.pace()).toEqual({ rate: 1_000, eta: 1_000 });
    rate.add({ at: 15_000, read: 2_100, lag: 9_000 });
    expect(rate.pace().eta).toBeNull();
  });

  test('knows of what has stood still how long it has, when it moves', () => {
    const rate = new Rate();
    for (let at = 0; at <= 100_000; at += 1_000) rate.add({ at, read: 0, lag: 500 });
    expect(rate.pace()).toEqual({ rate: 0, eta: null });
    rate.add({ at: 101_000, read: 400, lag: 100 });
    expect(rate.pace()).toEqual({ rate: 40, eta: 2_500 });
    for (let at = 102_000; at <= 200_000; at += 1_000) rate.add({ at, read: 400, lag: 100 });
    expect(rate.pace()).toEqual({ rate: 0, eta: null });
  });

  test('tells the age of the oldest unread byte, as far as posidle saw it', () => {
    const rate = new Rate();
    const ages = (
      [
        [0, 0, 100],
        [1_000, 50, 150],
        [2_000, 90, 210],
        [3_000, 100, 300],
        [4_000, 300, 100],
        [5_000, 400, 0],
        [6_000, 400, 7],
        [9_000, 400, 7],
        [10_000, 0, 500],
      ] as const
    ).map(([at, read, lag]) => {
      rate.add({ at, read, lag });
      return rate.oldestUnread;
    });
    // Up to byte 100 was there at 0, up to 200 a second later. At 10,000 the file was truncated.
    expect(ages).toEqual([0, 1_000, 2_000, 2_000, 1_000, null, 0, 3_000, 0]);
  });

  test('remembers few of very many sizes: the age is a little too small then, never too large', () => {
    const rate = new Rate();
    for (let at = 0; at <= 1_000_000; at += 1_000) rate.add({ at, read: 0, lag: at });
    expect(rate.oldestUnread).toBe(999_000);
    rate.add({ at: 1_001_000, read: 500_500, lag: 500_500 });
    expect(rate.oldestUnread).toBeLessThanOrEqual(500_000);
    expect(rate.oldestUnread).toBeGreaterThan(400_000);
  });

  test('is not known where what moves was not seen for 10 s', () => {
    const rate = new Rate();
    for (const at of [0, 11_000]) rate.add({ at, read: at, lag: 500 });
    expect(rate.pace()).toEqual({ rate: null, eta: null });
  });
});

describe('the rates of all files', () => {
  const read = (positions: Readonly<Record<string, number>>): Readonly<Record<string, Written>> =>
    Object.fromEntries(
      Object.entries(positions).map(([path, position]) => [path, { size: 2_000, position }]),
    );

  test('count what was read, also of files that have gone, were cut short or are new', () => {
    const rates = new Rates();
    const view = new Looks(rates);
    const looks = [
      { a: 1_000, b: 100 },
      { a: 1_500, b: 100 },
      { b: 160, c: 40 },
      { b: 10, c: 40 },
    ];
    for (const [second, positions] of looks.entries()) view.look(second * 1_000, read(positions));
    // 500 of a, 60 of b, 40 of c, and 10 of b anew: in three seconds.
    expect(rates.total.read).toBe(610);
    expect(rates.total.pace().rate).toBeCloseTo(610 / 3);
  });

  test('count nothing twice when a pos file could not be read for a while', () => {
    const rates = new Rates();
    const view = new Looks(rates);
    view.look(0, read({ a: 1_000 }));
    view.look(1_000, {}, unreadable('EACCES'));
    view.look(2_000, read({ a: 1_500 }));
    expect(rates.total.read).toBe(500);
  });

  test('forget files whose entries are gone', () => {
    const rates = new Rates();
    const view = new Looks(rates);
    const key = (inode: number) => `${POS}\t/a\t${inode}`;
    for (let inode = 1; inode <= 3; inode += 1)
      view.look(inode * 1_000, { '/a': { size: 10, position: 10, inode } });
    expect([1, 2, 3].map((inode) => rates.of(key(inode)) !== undefined)).toEqual([false, false, true]);
  });
});
