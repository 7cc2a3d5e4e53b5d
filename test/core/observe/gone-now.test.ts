import { describe, expect, test } from 'vitest';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import { NO_BUFFERS } from '../../../src/core/fluentd/buffer-contents.ts';
import type { FileLook, Snapshot } from '../../../src/core/look/snapshot.ts';
import { restOf } from '../../../src/core/observe/gone-now.ts';
import { entryKeyIn } from '../../../src/core/pos-file/pos-file.ts';
import {
  ABSENT,
  entry,
  fileOf,
  outputReading,
  POS,
  policy,
  running,
  seen,
  snapshot,
  told,
  type Watched,
} from '../../support/builders.ts';

const SECOND = 1_000;
/** Until then in_tail reads a file that went away at 3 s: 5 s of rotate_wait, and a tick. */
const READ_UNTIL = 9;
const old = entry({ position: 5 });
const next = entry({ position: 3, inode: '8' });
const key = entryKeyIn(POS, old);
const KILLED = { fluentd: running({ workers: [{ pid: 9, startTime: '9' }] }) };
const limited = (readLimit: number) => policy({ tail: { ...DEFAULT_TAIL, readLimit } });

const sized = (second: number, size: number) => snapshot(second * SECOND, [[old, fileOf(old, size)]]);
const read = sized(0, 5);
const oneLeft = [read, sized(2, 6)];
const fourLeft = [read, sized(2, 9)];
const replaced = (second: number, changes: Partial<Snapshot> = {}) =>
  snapshot(second * SECOND, [[next]], changes);
const away = (second: number, changes: Partial<Snapshot> = {}) =>
  snapshot(second * SECOND, [[old, {}]], changes);
const goneAt = (size: number | undefined, isOpen?: boolean) => ({ gone: new Map([[key, { size, isOpen }]]) });
const space = (free: number) => ({
  buffers: { ...NO_BUFFERS, none: false, outputs: [outputReading({ told: told({ space: free }) })] },
});
const lostIn = (looks: readonly Snapshot[], rules = policy()) =>
  [...seen(looks, rules).memory.abandoned.values()].map(({ bytes }) => bytes);
const goneIn = (looks: readonly Snapshot[], rules = policy()) => seen(looks, rules).memory.gone.get(key);

test.each([
  [9, 5, 4],
  [9, 9, 0],
  // in_tail has not noticed that it was truncated.
  [5, 9, 5],
  [9, null, 0],
  [null, 5, 0],
])('of %j bytes of which %j were read, as far as it is known, %i are left', (whole, reached, left) => {
  expect(restOf({ whole, reached })).toBe(left);
});

describe('a file that another one replaced', () => {
  test('has lost one byte as well as many with its worker', () => {
    expect(lostIn([...oneLeft, replaced(3, KILLED)])).toEqual([1]);
    expect(lostIn([...oneLeft, replaced(3), replaced(4, KILLED)])).toEqual([1]);
    expect(lostIn([...oneLeft, away(3, KILLED)])).toEqual([1]);
  });

  test('and was read has lost nothing with its worker, but what it grows by', () => {
    expect(lostIn([read, replaced(3, KILLED), replaced(4, goneAt(5))])).toEqual([]);
    expect(lostIn([read, replaced(3, KILLED), replaced(4, goneAt(9))])).toEqual([4]);
    expect(lostIn([read, replaced(3), replaced(4, KILLED), replaced(5, goneAt(5))])).toEqual([]);
    expect(lostIn([read, replaced(3), replaced(4, KILLED), replaced(5, goneAt(9))])).toEqual([4]);
    expect(lostIn([read, away(3, KILLED), away(4, goneAt(5))])).toEqual([]);
  });

  test('and that was truncated unnoticed before, has all its bytes left', () => {
    expect(lostIn([read, sized(2, 3), away(3, KILLED)])).toEqual([3]);
  });

  test('and that was seen truncated, has lost all its bytes: in_tail does not notice it any more', () => {
    expect(lostIn([read, sized(2, 3), away(3)])).toEqual([3]);
    expect(lostIn([read, sized(2, 3), replaced(3)])).toEqual([3]);
    expect(lostIn([read, sized(2, 0), replaced(3)])).toEqual([]);
    // What comes later lies before the place from which in_tail reads on.
    expect(lostIn([read, sized(2, 0), replaced(3), replaced(4, goneAt(4))])).toEqual([4]);
    const renamed = [old, { renamed: { path: '/old.1', stat: { inode: old.inode, size: 4 } } }] as const;
    expect(lostIn([read, sized(2, 0), snapshot(3 * SECOND, [renamed])])).toEqual([4]);
  });

  test('stays lost when its path gets a file only later', () => {
    expect(lostIn([...fourLeft, away(3, KILLED), replaced(4, KILLED)])).toEqual([4]);
  });

  test('is read for rotate_wait from when its path gets a file, also where that is only later', () => {
    const looks = [read, away(3, goneAt(5)), replaced(6, goneAt(5))];
    expect(goneIn(looks)).toMatchObject({ since: 6 * SECOND, hasEntry: false });
  });

  test('was closed before, where its path got a file only later', () => {
    const looks = [read, away(3, goneAt(5)), away(20, goneAt(5)), replaced(21, goneAt(5))];
    expect(lostIn([...looks, replaced(22, goneAt(9))])).toEqual([4]);
  });

  test('is lost where a buffer has refused it, which its counters tell two seconds later at most', () => {
    const begin = [{ ...read, ...space(100) }, { ...sized(2, 6), ...space(100) }, replaced(3, space(100))];
    const toldAt = (second: number) => [
      ...begin,
      replaced(READ_UNTIL + 1.9, space(5)),
      replaced(second, { buffers: undefined }),
    ];
    expect(lostIn(toldAt(READ_UNTIL + 2))).toEqual([1]);
    expect(lostIn(toldAt(READ_UNTIL + 2.001))).toEqual([]);
  });

  test('is read until a second after rotate_wait, and closed then', () => {
    const closedIn = (second: number) => [read, replaced(3, goneAt(5)), replaced(second, goneAt(5))];
    expect(goneIn(closedIn(READ_UNTIL))).toMatchObject({ isClosed: false });
    expect(goneIn(closedIn(READ_UNTIL + 0.001))).toMatchObject({ isClosed: true });
  });

  test('is over when it is nowhere any more, and nobody can still read it', () => {
    const removed = (second: number) => [read, replaced(3, goneAt(5)), replaced(second, goneAt(undefined))];
    expect(goneIn(removed(READ_UNTIL))).toMatchObject({ isOver: false });
    expect(goneIn(removed(READ_UNTIL + 0.001))).toMatchObject({ isOver: true });
  });

  test('below a limit is read for as long as Fluentd has it open', () => {
    const killedAt = (second: number, isOpen: boolean) => [
      ...fourLeft,
      replaced(3, goneAt(9, isOpen)),
      replaced(second - 1, goneAt(9, isOpen)),
      replaced(second, KILLED),
    ];
    expect(lostIn(killedAt(99, true), limited(8_192))).toEqual([4]);
    expect(lostIn(killedAt(99, false), limited(8_192))).toEqual([]);
  });
});

describe('a file that a full buffer holds up', () => {
  const refused = (size: number) => [
    { ...read, ...space(5) },
    { ...sized(1, size), ...space(5) },
  ];
  const room = [4, 6, 9].map((second) => replaced(second, space(100)));

  test('loses one byte as well as many when its path gets another file', () => {
    expect(lostIn([...refused(6), replaced(2, space(5))])).toEqual([1]);
    expect(lostIn([...refused(5), replaced(2, space(5)), replaced(3, goneAt(9))])).toEqual([]);
  });

  test('loses nothing where there is room again in time', () => {
    expect(lostIn([...refused(9), replaced(2, space(5)), ...room])).toEqual([]);
  });
});

describe('a file whose successor is held up from its beginning', () => {
  const followedBy = (second: number, position: number, size: number) => {
    const one = { ...next, position };
    return snapshot(second * SECOND, [[one, fileOf(one, size)]], { buffers: undefined });
  };

  test('was held up too, as far as is seen within ten seconds', () => {
    expect(lostIn([...fourLeft, followedBy(3, 0, 3), followedBy(13, 0, 3)])).toEqual([4]);
    expect(lostIn([...fourLeft, followedBy(3, 0, 3), followedBy(13.001, 0, 3)])).toEqual([]);
  });

  test('was held up too where that one had bytes two seconds later at most', () => {
    const writtenAt = (second: number) => [
      followedBy(3, 0, 0),
      followedBy(second, 0, 3),
      followedBy(8, 0, 3),
    ];
    expect(lostIn([...fourLeft, ...writtenAt(5)])).toEqual([4]);
    expect(lostIn([...fourLeft, ...writtenAt(5.001)])).toEqual([]);
  });

  test('was read where that one was read at first', () => {
    expect(lostIn([...fourLeft, followedBy(3, 0, 3), followedBy(4, 3, 9), followedBy(7, 3, 9)])).toEqual([]);
  });
});

describe('so many files that went away', () => {
  const MOST = 1_000;
  const files = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      entry({ path: `/${index}`, inode: String(100 + index), position: 5 }),
    );
  const keysOf = (count: number) => files(count).map((file) => entryKeyIn(POS, file));
  const here = (count: number, size = 5) =>
    snapshot(
      0,
      files(count).map((file) => [file, fileOf(file, size)]),
    );
  /** All but the last are removed at 1 s, and the last one later. */
  const awayAt = (second: number, count: number, isLastHere: boolean, size = 5) =>
    snapshot(
      second * SECOND,
      files(count).map((file, index) => [file, isLastHere && index === count - 1 ? fileOf(file, size) : {}]),
      { gone: new Map(keysOf(count).map((key) => [key, { size: undefined, isOpen: undefined }])) },
    );
  const watchedIn = (looks: readonly Snapshot[]) => [...seen(looks).memory.gone.keys()];

  test('are watched, and no more', () => {
    const watched = watchedIn([here(MOST + 1), awayAt(1, MOST + 1, false)]);
    expect(watched).toEqual(keysOf(MOST));
  });

  test('are watched, and no more, beside one that in_tail has let go of', () => {
    const all = files(MOST + 2);
    const last = ({ inode }: { inode: string }) => inode === all.at(-1)?.inode;
    const away = all.map(
      (file): Watched => (last(file) ? [{ ...file, position: null }, fileOf(file)] : [file, {}]),
    );
    const looks = [here(MOST + 2), snapshot(SECOND, away)];
    expect(watchedIn(looks)).toEqual(keysOf(MOST));
  });

  test('are watched until one is over, whose place the next one takes', () => {
    const looks = [
      here(MOST + 1),
      awayAt(1, MOST + 1, true),
      awayAt(20, MOST + 1, true),
      awayAt(21, MOST + 1, false),
    ];
    expect(watchedIn(looks)).toEqual(keysOf(MOST + 1).slice(1));
  });

  test('are not forgotten where something was lost with them', () => {
    const away = (second: number) => awayAt(second, MOST + 1, true, 6);
    const looks = [here(MOST + 1, 6), { ...away(1), ...KILLED }, away(20), awayAt(21, MOST + 1, false)];
    expect(watchedIn(looks)).toEqual(keysOf(MOST));
    expect(lostIn(looks)).toHaveLength(MOST);
  });
});

describe('a file that is truncated', () => {
  const cut = (position: number, size: number, look = fileOf(entry({ position }), size)) =>
    snapshot(3 * SECOND, [[entry({ position }), look]]);
  const renamed = (size: number): FileLook => ({
    atPath: { inode: '99', size: 1 },
    renamed: { path: '/elsewhere', stat: { inode: entry().inode, size } },
  });
  const cutIn = (...looks: readonly Snapshot[]) => seen(looks).memory.gone.get(`${key}\ttruncated`);

  test('and read anew may have lost its rest', () => {
    expect(cutIn(...fourLeft, cut(0, 3))).toMatchObject({ isCut: true, rest: 4, isLost: false });
    expect(cutIn(...fourLeft, cut(4, 8))).toMatchObject({ isCut: true, rest: 4 });
  });

  test.each([
    ['it is as long as before', cut(0, 9)],
    ['its position has not gone back', cut(5, 8)],
    ['its position went back alone', cut(0, 20)],
    ['it has another name by then', cut(0, 3, renamed(3))],
  ])('is none where %s', (_, look) => {
    expect(cutIn(...fourLeft, look)).toBeUndefined();
  });

  test('is none where it was held up: then its rest is lost', () => {
    expect(cutIn(...fourLeft, sized(5, 9), { ...cut(0, 3), at: 6 * SECOND })).toBeUndefined();
  });

  test('is none where it has never been read', () => {
    const begun = entry({ position: 0 });
    expect(cutIn(snapshot(0, [[begun, fileOf(begun, 9)]]), cut(0, 3))).toBeUndefined();
  });
});

describe('an entry that a new worker has dropped', () => {
  const dropped = snapshot(3 * SECOND, []);

  test('has lost one byte as well as many, and nothing where it was read', () => {
    const again = { ...dropped, at: 4 * SECOND };
    expect(lostIn([...oneLeft, dropped, again])).toEqual([1]);
    expect(lostIn([read, dropped, again])).toEqual([]);
    expect(lostIn([read, dropped, again, { ...again, at: 5 * SECOND, ...goneAt(9) }])).toEqual([4]);
  });

  test('is not gone anew when its path gets another file', () => {
    const looks = [read, dropped, { ...dropped, at: 4 * SECOND }];
    expect(goneIn([...looks, replaced(6)])).toMatchObject({ since: 4 * SECOND });
  });
});

test('an entry that has not been opened yet is replaced by none', () => {
  const unopened = entry({ position: 0, inode: '0' });
  const looks = [snapshot(0, [[unopened, {}]]), replaced(1)];
  expect([...seen(looks).memory.gone.keys()]).toEqual([]);
});

describe('a file that is back at its path', () => {
  test('is not gone any more', () => {
    expect(goneIn([...fourLeft, away(3), sized(4, 9)])).toBeUndefined();
    expect(lostIn([...fourLeft, away(3, KILLED), sized(4, 9)])).toEqual([]);
  });

  test('with fewer bytes is another one: what was lost with the one before stays told', () => {
    const again = entry({ position: 0 });
    const begun = snapshot(5 * SECOND, [[again, fileOf(again, 3)]]);
    expect(lostIn([...oneLeft, replaced(3, KILLED), replaced(4), begun])).toEqual([1]);
    expect(lostIn([...fourLeft, replaced(3), replaced(4), begun])).toEqual([]);
  });
});

describe('a file that in_tail has let go of when it is first seen', () => {
  const unwatched = entry({ position: null });
  const letGo = (look: object, second: number, size: number) =>
    snapshot(second * SECOND, [[unwatched, look]], goneAt(size));

  test('and that still stands at its path, loses what comes', () => {
    const there = { atPath: { inode: '7', size: 5 } };
    expect(lostIn([letGo(there, 0, 5), letGo(there, 1, 5), letGo(there, 2, 9)])).toEqual([4]);
  });

  test('after it was renamed, was read for as long as since the rename', () => {
    const looks = [read, away(1, goneAt(5)), letGo({}, 3, 5), letGo({}, 7.5, 5), letGo({}, 8, 9)];
    expect(lostIn(looks)).toEqual([4]);
    expect(lostIn([...looks.slice(0, 3), letGo({}, 6.5, 5), letGo({}, 7.5, 9), letGo({}, 8, 9)])).toEqual([]);
  });

  test('and that does not, is none to be told of', () => {
    const looks = [letGo({}, 0, 5), letGo({}, 1, 5)];
    expect(goneIn(looks)).toBeUndefined();
    expect(goneIn([...looks, replaced(2)])).toBeUndefined();
  });
});

describe('a file that in_tail found and main renamed between two looks', () => {
  const follows = (files: readonly { path: string; inode: string; size: number }[], unknown?: string) => ({
    followed: [
      {
        posFile: POS,
        refreshInterval: 60_000,
        byInode: false,
        files,
        ...(unknown !== undefined && { unknown }),
      },
    ],
  });
  const fresh = { path: '/new', inode: '8', size: 3 };
  const first = snapshot(0, [[old]], follows([fresh]));
  const begun = (position: number) =>
    [
      entry({ path: '/new', inode: '8', position }),
      { renamed: { path: '/new.1', stat: { inode: '8', size: 3 } } },
    ] as const;
  const goneKeys = (...looks: readonly Snapshot[]) => [...seen(looks).memory.gone.values()];

  test.each([
    [0, 3],
    [2, 1],
    [3, 0],
  ])('after its first %i bytes has a rest of %i, by its entry', (position, rest) => {
    const found = goneKeys(first, snapshot(SECOND, [[old], begun(position)], follows([])));
    expect(found).toMatchObject([{ path: '/new', rest, hasEntry: true, isLost: false }]);
  });

  test('has all of it as its rest where only its open file shows that it was found', () => {
    const opened = { ...follows([]), opened: new Set(['8']) };
    const found = goneKeys(first, snapshot(SECOND, [[old]], opened));
    expect(found).toMatchObject([{ path: '/new', rest: 3, hasEntry: false, isLost: false }]);
    expect(goneKeys(first, snapshot(SECOND, [[old]], { ...opened, ...KILLED }))).toMatchObject([
      { isLost: true },
    ]);
    expect(goneKeys(first, snapshot(SECOND, [[old]], { ...opened, opened: new Set(['9']) }))).toEqual([]);
  });

  describe('may be what in another container nobody can see:', () => {
    const next = entry({ path: '/new', inode: '9' });
    const unseen = { ...follows([{ ...fresh, inode: '9' }]), opened: undefined };
    const lostIn = (...looks: readonly Snapshot[]) => [...seen(looks).memory.abandoned.values()];

    test('it is waited for, and counts as lost, once', () => {
      const looks = [first, snapshot(SECOND, [[old], [next]], unseen)];
      expect(goneKeys(...looks)).toMatchObject([{ path: '/new', rest: 3, hasEntry: false, isLost: true }]);
      const later = snapshot(2 * SECOND, [[old], [next]], unseen);
      for (const until of [looks, [...looks, later]])
        expect(lostIn(...until)).toEqual([{ path: '/new', bytes: 3 }]);
    });

    test('it is waited for, and may have been read, where its path had another entry before', () => {
      const before = entry({ path: '/new', inode: '7' });
      const looks = [snapshot(0, [[before]], follows([fresh])), snapshot(SECOND, [[next]], unseen)];
      expect(goneKeys(...looks)).toMatchObject(
        [{ inode: '7' }, { inode: '8', rest: 3, isLost: false }].toReversed(),
      );
      expect(lostIn(...looks)).toEqual([]);
    });

    test('it is waited for, and counts as lost, where its worker may not have been there at first', () => {
      const before = snapshot(0, [[entry({ path: '/new', inode: '7' })]], follows([fresh]));
      const looks = [
        { ...before, fluentd: ABSENT },
        snapshot(SECOND, [[next]], { ...unseen, fluentd: { kind: 'remote', permitted: true } }),
      ];
      expect(goneKeys(...looks)).toContainEqual(
        expect.objectContaining({ inode: '8', rest: 3, isLost: true }),
      );
      expect(lostIn(...looks)).toEqual([{ path: '/new', bytes: 3 }]);
    });

    test('it was not found where it waited for two seconds, which in_tail does not take', () => {
      const before = [entry({ path: '/new', inode: '7' })] as const;
      const lostAfter = (second: number) =>
        lostIn(
          snapshot(10 * SECOND, [before], follows([fresh])),
          snapshot((10 + second) * SECOND, [before], follows([fresh])),
          snapshot((11 + second) * SECOND, [[next]], unseen),
        );
      expect(lostAfter(0.9)).toEqual([]);
      expect(lostAfter(1)).toEqual([{ path: '/new', bytes: 3 }]);
    });

    test.each<[string, Snapshot]>([
      ['its path has no entry', snapshot(SECOND, [[old]], unseen)],
      ['Fluentd has it not open', snapshot(SECOND, [[old], [next]], { ...unseen, opened: new Set() })],
      [
        'each inode has an entry of its own',
        snapshot(SECOND, [[old], [next]], {
          ...unseen,
          followed: unseen.followed.map((source) => ({ ...source, byInode: true })),
        }),
      ],
    ])('it was not found where %s, and is not waited for', (_, look) => {
      const waiting = { ...first, followed: look.followed.map((source) => ({ ...source, files: [fresh] })) };
      expect(goneKeys(waiting, look)).toEqual([]);
      expect(lostIn(waiting, look)).toEqual([{ path: '/new', bytes: 3 }]);
    });
  });

  test('loses one byte as well as many with its worker, and nothing where it was read', () => {
    const killed = (position: number) =>
      snapshot(SECOND, [[old], begun(position)], { ...follows([]), ...KILLED });
    expect([2, 3].map((position) => goneKeys(first, killed(position)).map(({ isLost }) => isLost))).toEqual([
      [true],
      [false],
    ]);
  });

  test('is not gone where it is listed still, or where nobody can list it', () => {
    const opened = { opened: new Set(['8']) };
    expect(goneKeys(first, snapshot(SECOND, [[old]], { ...follows([fresh]), ...opened }))).toEqual([]);
    expect(goneKeys(first, snapshot(SECOND, [[old]], { ...follows([], 'closed'), ...opened }))).toEqual([]);
  });
});
