import { describe, expect, test } from 'vitest';
import { History } from '../../../src/core/inspect/history.ts';
import { Track } from '../../../src/core/inspect/track.ts';
import type { ObservedFile } from '../../../src/core/observe/observation.ts';
import { EntryRows } from '../../../src/core/pos-file/entry-rows.ts';
import { entry, LOG, POS, posText } from '../../support/builders.ts';
import { memoryInUse } from '../../support/memory.ts';

const behind: ObservedFile = {
  ...{ posFile: POS, key: LOG, path: LOG, position: 100, inode: '7', movedAt: 0 },
  ...{ state: 'behind', size: 200, lag: 100, read: false },
};

describe('the pace of an entry', () => {
  test('tells rate and time to go from the last 5 s', () => {
    const track = new Track();
    expect(track.pace()).toMatchObject({ rate: null, eta: null, lags: [] });
    for (const [at, read, lag] of [
      [0, 0, 9_000],
      [10_000, 100, 3_000],
      [12_000, 2_100, 1_000],
    ] as const)
      track.add({ at, read, lag });
    expect(track.pace()).toMatchObject({ rate: 1_000, eta: 1_000, lags: [9_000, 3_000, 1_000] });
    track.add({ at: 13_000, read: 2_100, lag: 9_000 });
    expect(track.pace().eta).toBeNull();
  });

  test('knows of what has stood still how long it has, when it moves', () => {
    const track = new Track();
    for (let at = 0; at <= 100_000; at += 1_000) track.add({ at, read: 0, lag: 500 });
    expect(track.pace()).toMatchObject({ rate: 0, eta: null, lags: Array(60).fill(500) });
    track.add({ at: 101_000, read: 400, lag: 100 });
    expect(track.pace()).toMatchObject({ rate: 80, eta: 1_250, lags: [...Array(59).fill(500), 100] });
    for (let at = 102_000; at <= 200_000; at += 1_000) track.add({ at, read: 400, lag: 100 });
    expect(track.pace()).toMatchObject({ rate: 0, eta: null, lags: Array(60).fill(100) });
  });

  test('tells no rate where looks lie further apart than 5 s', () => {
    const track = new Track();
    for (const at of [0, 6_000, 12_000]) track.add({ at, read: 0, lag: 500 });
    expect(track.pace()).toMatchObject({ rate: null, eta: null, lags: [500, 500, 500] });
    track.add({ at: 18_000, read: 400, lag: 100 });
    expect(track.pace()).toMatchObject({ rate: null, eta: null, lags: [500, 500, 500, 100] });
  });
});

describe('the history of a live view', () => {
  test('knows when an entry was seen to move, and not when it was first seen', () => {
    const followed = new History().of(POS, entry());
    followed.take(behind, undefined, 0);
    expect(followed.movedAt).toBeNull();
    followed.take({ ...behind, position: 150, movedAt: 900 }, followed.memory, 1_000);
    expect(followed.movedAt).toBe(900);
    followed.take({ ...behind, position: 150, movedAt: 900 }, followed.memory, 2_000);
    expect(followed.movedAt).toBe(900);
  });

  test('knows how much was read, also of entries that have gone, were cut short or are new', () => {
    const history = new History();
    const look = (positions: Readonly<Record<string, number>>) => {
      history.begin(0);
      for (const [path, position] of Object.entries(positions)) {
        const followed = history.of(POS, entry({ path }));
        history.take(followed, { ...behind, path, position }, followed.memory, 0);
      }
      return history.read;
    };
    expect(look({ a: 1_000, b: 100 })).toBe(0);
    expect(look({ a: 1_500, b: 100 })).toBe(500);
    expect(look({ b: 160, c: 40 })).toBe(600);
    expect(look({ b: 10, c: 40 })).toBe(610);
  });

  test('tells when the look before began', () => {
    const history = new History();
    expect([5, 7, 11].map((at) => history.begin(at))).toEqual([undefined, 5, 7]);
  });

  test('knows an entry again that was gone, and of more than 10,000 forgets the oldest', () => {
    const history = new History();
    const at = (inode: number) => ({ ...entry(), inode: String(inode) });
    history.begin(0);
    for (let inode = 1; inode <= 10_001; inode += 1) history.of(POS, at(inode)).take(behind, undefined, 0);
    for (const look of [1, 2]) history.begin(look);
    expect(history.find(POS, at(1))).toBeUndefined();
    expect(history.find(POS, at(2))?.memory).toMatchObject({ size: 200 });
  });

  test('keeps the entries of several pos files apart', () => {
    const history = new History();
    history.of('/a', entry()).take(behind, undefined, 0);
    expect(history.of('/b', entry()).memory).toBeUndefined();
  });

  test.each([
    ['stands still takes next to nothing', 0, 640],
    ['moves at each look takes 2.5 KiB at most', 1, 2_560],
  ])('an entry that %s, however often it is looked at', (_, by, most) => {
    const count = 5_000;
    const history = new History();
    const before = memoryInUse();
    for (let look = 0; look < 100; look += 1) {
      history.begin(look * 1_000);
      for (let file = 0; file < count; file += 1) {
        const position = 1e10 + look * by;
        const followed = history.of(POS, entry({ path: String(file) }));
        const movedAt = by === 0 ? 0.5 : look * 1_000 + 0.5;
        const seen = { ...behind, position, movedAt, size: 1e11, lag: 1e11 - position };
        followed.take(seen, followed.memory, look * 1_000 + 0.5);
      }
    }
    expect((memoryInUse() - before) / count).toBeLessThan(most + 512);
    expect(history.pace(POS, { path: '0', inode: '7' }).lags).toHaveLength(60);
  });

  test('an entry that comes anew keeps itself in memory, and not what stands around it in the pos file', () => {
    const history = new History();
    const before = memoryInUse();
    const filler = Array.from({ length: 1_000 }, (_, index) =>
      entry({ path: `/var/log/filler-${index}.log` }),
    );
    for (let look = 0; look < 200; look += 1) {
      const bytes = Buffer.from(posText([...filler, entry({ path: `/var/log/rotated-${look}.log` })]));
      history.begin(look);
      const last = [...new EntryRows(bytes).latest()].at(-1);
      if (last !== undefined) history.of(POS, last);
    }
    expect((memoryInUse() - before) / 200).toBeLessThan(16 * 1024);
  });
});
