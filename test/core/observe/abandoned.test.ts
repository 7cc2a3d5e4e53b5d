import { describe, expect, test } from 'vitest';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import { NO_BUFFERS } from '../../../src/core/fluentd/buffer-contents.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { isHeldUp, summedUp } from '../../../src/core/observe/abandoned.ts';
import type { Abandoned } from '../../../src/core/observe/observation.ts';
import { entryKeyIn } from '../../../src/core/pos-file/pos-file.ts';
import {
  entry,
  fileOf,
  LOG,
  outputReading,
  POS,
  policy,
  running,
  seen,
  snapshot,
  told,
} from '../../support/builders.ts';

const SECOND = 1_000;
const at = (position: number | null) => entry({ position });

describe('a file that is truncated', () => {
  const cut = (position: number, size: number) =>
    snapshot(SECOND, [[at(position), fileOf(at(position), size)]]);
  const abandonedIn = (...looks: readonly Snapshot[]) => [...seen(looks).memory.abandoned.values()];

  test('with unread bytes has lost them, also where it is soon longer than the position again', () => {
    const before = snapshot(0, [[at(5), fileOf(at(5), 100)]]);
    expect(abandonedIn(before, cut(5, 2))).toEqual([{ path: LOG, bytes: 95 }]);
    expect(abandonedIn(before, cut(5, 9))).toEqual([{ path: LOG, bytes: 95 }]);
    const byteLeft = snapshot(0, [[at(5), fileOf(at(5), 6)]]);
    expect(abandonedIn(byteLeft, cut(5, 2))).toEqual([{ path: LOG, bytes: 1 }]);
  });

  test('and of which one byte was read has lost the others', () => {
    expect(abandonedIn(snapshot(0, [[at(1), fileOf(at(1), 9)]]), cut(1, 2))).toEqual([
      { path: LOG, bytes: 8 },
    ]);
  });

  test('and was read to its end has lost nothing', () => {
    expect(abandonedIn(snapshot(0, [[at(100)]]), cut(100, 2))).toEqual([]);
  });

  test('and is read anew may have been read to its end just before, unless it was held up', () => {
    const left = (when: number) => snapshot(when, [[at(5), fileOf(at(5), 100)]]);
    expect(abandonedIn(left(0), cut(0, 2))).toEqual([]);
    expect(abandonedIn(left(-3 * SECOND), left(0), cut(0, 2))).toEqual([{ path: LOG, bytes: 95 }]);
  });

  test.each([0, 2])('and had not been begun may have been read between two looks: it is at %i now', (now) => {
    const unread = (when: number) => snapshot(when, [[at(0), fileOf(at(0), 100)]]);
    expect(abandonedIn(unread(0), cut(now, 9))).toEqual([]);
    expect(abandonedIn(unread(-3 * SECOND), unread(0), cut(now, 9))).toEqual([
      { path: LOG, bytes: 100 - now },
    ]);
  });
});

describe('a file that in_tail lets go of', () => {
  const rules = policy();
  const left = fileOf(at(5), 9);
  const renamed = { renamed: { path: `${LOG}.1`, stat: { inode: '7', size: 12 } }, newlineLeft: true };
  /** Bytes are left for so long before it is renamed, and then let go. */
  const letGoAfter = (span: number) => [
    snapshot(0, [[at(5), left]]),
    snapshot(span, [[at(5), left]]),
    snapshot(span + SECOND, [[at(5), renamed]]),
    snapshot(span + 2 * SECOND, [[at(null), {}]]),
  ];

  test('after it was held up beside bytes, is left unread, and stays so', () => {
    const abandoned = [{ path: LOG, bytes: 7 }];
    expect([...seen(letGoAfter(2_000), rules).memory.abandoned.values()]).toEqual(abandoned);
    const later = [...letGoAfter(2_000), snapshot(9_000, [[at(null), {}]])];
    expect([...seen(later, rules).memory.abandoned.values()]).toEqual(abandoned);
  });

  test('within a moment of being written to, has been read from memory', () => {
    expect(seen(letGoAfter(900), rules).memory.abandoned.size).toBe(0);
  });

  test('within a moment of being written to, is left unread where the buffer is full', () => {
    const outputs = [outputReading({ told: told({ space: 3 }) })];
    const [first, ...later] = letGoAfter(900);
    const full = { ...first, buffers: { ...NO_BUFFERS, outputs } } as Snapshot;
    const unasked = later.map((look) => ({ ...look, buffers: undefined }));
    expect([...seen([full, ...unasked], rules).memory.abandoned.values()]).toEqual([{ path: LOG, bytes: 7 }]);
  });

  test('below a limit is read on: as many bytes are waited for, from then on', () => {
    const { memory, rotatedAt } = seen(
      letGoAfter(2_000),
      policy({ tail: { ...DEFAULT_TAIL, readLimit: 10_000 } }),
    );
    expect(memory.abandoned.size).toBe(0);
    expect([...memory.gone.values()]).toMatchObject([{ path: LOG, rest: 7 }]);
    expect(rotatedAt).toBe(4_000);
  });
});

describe('a truncated file that is written again', () => {
  const at = (second: number, position: number, size: number) => {
    const now = entry({ position });
    return snapshot(second * 1_000, [[now, fileOf(now, size)]]);
  };
  const lost = (...looks: readonly Snapshot[]) => [...seen(looks).memory.abandoned.values()];

  test('that is longer again before in_tail has noticed has lost its beginning', () => {
    expect(lost(at(0, 9, 9), at(1, 9, 4), at(2, 9, 20))).toEqual([{ path: LOG, bytes: 9 }]);
    expect(lost(at(0, 9, 9), at(1, 9, 4), at(2, 9, 20), at(3, 20, 20))).toEqual([{ path: LOG, bytes: 9 }]);
  });

  test.each([
    ['is read anew', 20, 20],
    ['is being read anew', 4, 20],
    ['has been written again with as many bytes', 9, 9],
  ])('that %s has lost nothing', (_, position, size) => {
    expect(lost(at(0, 9, 9), at(1, 9, 4), at(2, position, size))).toEqual([]);
  });
});

describe('a file that in_tail has still to find', () => {
  const follows = (...files: readonly { path: string; inode: string; size: number; born?: number }[]) => ({
    followed: [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }],
  });
  const fresh = { path: '/new', inode: '8', size: 3 };
  const first = snapshot(0, [[at(5)]], follows(fresh));

  test('and that goes away before, is left unread', () => {
    const { memory } = seen([first, snapshot(SECOND, [[at(5)]], follows())]);
    expect([...memory.abandoned.values()]).toEqual([{ path: '/new', bytes: 3 }]);
  });

  const second = { path: LOG, inode: '8', size: 3 };
  const lost = [{ path: LOG, bytes: 3 }];
  const abandonedIn = (...looks: readonly Snapshot[]) => [...seen(looks).memory.abandoned.values()];

  test('and that goes away when in_tail has let go of the one before it, is left unread', () => {
    const waiting = snapshot(0, [[at(5), {}]], follows(second));
    const letGo = snapshot(SECOND, [[at(null), {}]], follows(second));
    expect(abandonedIn(waiting, letGo, snapshot(2 * SECOND, [[at(null), {}]], follows()))).toEqual(lost);
  });

  test.each([
    ['may have been read between two looks where its path has another entry then', false, []],
    ['is left unread where each inode has an entry of its own, whatever others its path has', true, lost],
  ])('and that goes away %s', (_, byInode, abandoned) => {
    const source = { posFile: POS, refreshInterval: 60_000, byInode };
    const next = entry({ inode: '9' });
    const looks = [
      snapshot(0, [[at(5), {}]], { followed: [{ ...source, files: [second] }] }),
      snapshot(SECOND, [[at(5), {}], [next]], {
        followed: [{ ...source, files: [{ ...second, inode: '9' }] }],
      }),
    ];
    expect(abandonedIn(...looks)).toEqual(abandoned);
  });

  test('and whose path another file has taken by then, is left unread', () => {
    const next = snapshot(
      SECOND,
      [[at(5)], [entry({ path: '/new', inode: '9' })]],
      follows({ ...fresh, inode: '9' }),
    );
    expect([...seen([first, next]).memory.abandoned.values()]).toEqual([{ path: '/new', bytes: 3 }]);
  });

  test('at the path of one that in_tail still has open, and that goes away before, is left unread', () => {
    const stale = [entry({ path: '/new', inode: '7' }), fileOf(entry(), 100)] as const;
    const looks = [snapshot(0, [stale], follows(fresh)), snapshot(SECOND, [stale], follows())];
    expect([...seen(looks).memory.abandoned.values()]).toEqual([{ path: '/new', bytes: 3 }]);
  });

  test('at the path of another one, may have been read where in_tail has opened a third one by then', () => {
    const before = snapshot(0, [[entry({ path: '/new', inode: '7' })]], follows(fresh));
    const third = snapshot(SECOND, [[entry({ path: '/new', inode: '9' })]], follows());
    expect(seen([before, third]).memory.abandoned.size).toBe(0);
  });

  describe('at the path of another one, and that goes away', () => {
    const stale = [entry({ path: '/new', inode: '7' }), {}] as const;
    const third = [entry({ path: '/new', inode: '9' })] as const;
    const worker = (pid: number, isStarting = false) => ({
      fluentd: running({ workers: [{ pid, startTime: String(pid) }], isStarting }),
    });
    const waits = (changes: Partial<Snapshot>) => snapshot(0, [stale], { ...follows(fresh), ...changes });
    const isGone = (changes: Partial<Snapshot>, when = SECOND) =>
      snapshot(when, [third], { ...follows({ ...fresh, inode: '9' }), ...changes });

    test.each<[string, boolean, readonly Snapshot[]]>([
      ['while a worker starts, is left unread', true, [waits(worker(1, true)), isGone(worker(1))]],
      ['when another worker has come, is left unread', true, [waits(worker(1)), isGone(worker(2))]],
      [
        'when a worker has started, though the files were listed only then, is left unread',
        true,
        [waits(worker(1, true)), isGone({ ...worker(1), ...follows(fresh) }), isGone(worker(1), 2 * SECOND)],
      ],
      [
        'when its path has lost its entry, is left unread',
        true,
        [waits(worker(1)), snapshot(SECOND, [], { ...follows(), ...worker(1) })],
      ],
      ['while the worker stays, may have been read', false, [waits(worker(1)), isGone(worker(1))]],
    ])('%s', (_, isLost, looks) => {
      const { memory } = seen(looks);
      expect([...memory.abandoned.values()]).toEqual(isLost ? [{ path: '/new', bytes: 3 }] : []);
    });
  });

  const opened = { opened: new Set(['8']), ...follows() };
  const renamed = { renamed: { path: '/new.1', stat: { inode: '8', size: 3 } } };
  test.each<[string, Snapshot]>([
    ['is open', snapshot(SECOND, [[at(5)]], opened)],
    [
      'has an entry',
      snapshot(SECOND, [[at(5)], [entry({ path: '/new', inode: '8', position: 0 }), renamed]]),
    ],
  ])(
    'and that %s under another name in the next look, is left unread where a buffer is full by then',
    (_, away) => {
      const space = (free: number): Partial<Snapshot> => {
        const outputs = [outputReading({ told: told({ space: free }) })];
        return { buffers: { ...NO_BUFFERS, none: false, asked: true, outputs } };
      };
      const looks = (free: number) => [
        { ...first, ...space(100) },
        { ...away, ...space(100) },
        { ...away, at: 2 * SECOND, ...space(free) },
        { ...away, at: 3 * SECOND, ...space(free) },
      ];
      expect([...seen(looks(5)).memory.abandoned.values()]).toEqual([{ path: '/new', bytes: 3 }]);
      expect(seen(looks(100)).memory.abandoned.size).toBe(0);
    },
  );

  test.each([0, 1])(
    'and that a worker opened which was starting until look %d, is not lost with it',
    (last) => {
      const away = snapshot(SECOND, [[at(5)]], opened);
      const looks = [first, away, { ...away, at: 2 * SECOND }].map((look, index) => ({
        ...look,
        fluentd: running({ isStarting: index <= last }),
      }));
      expect(seen(looks).memory.abandoned.size).toBe(0);
    },
  );

  test('and that Fluentd has open when it goes away, was found between two looks, and read unless a buffer is full', () => {
    const other = entry({ path: '/new', inode: '9' });
    const next = snapshot(SECOND, [[at(5)], [other]], {
      ...follows({ ...fresh, inode: '9' }),
      opened: new Set(['8']),
    });
    expect(seen([first, next]).memory.abandoned.size).toBe(0);
    const outputs = [outputReading({ told: told({ space: 5 }) })];
    const full = { ...first, buffers: { ...NO_BUFFERS, none: false, asked: true, outputs } };
    expect([...seen([full, next]).memory.abandoned.values()]).toEqual([{ path: '/new', bytes: 3 }]);
    const blocking = policy({ tail: { ...DEFAULT_TAIL, mayRefuse: false } });
    expect(seen([full, next], blocking).memory.abandoned.size).toBe(0);
  });

  test('and whose path another file has taken stays awaited until the files are listed anew', () => {
    const entryOfNext = [entry({ path: '/new', inode: '9' })] as const;
    const looks = [first, snapshot(SECOND, [entryOfNext], follows(fresh))];
    const listed = snapshot(2 * SECOND, [entryOfNext], follows({ ...fresh, inode: '9' }));
    expect([...seen([...looks, listed]).memory.abandoned.values()]).toEqual([{ path: '/new', bytes: 3 }]);
  });

  test('and that holds one byte, is awaited until it has an entry, and lost when it goes away before', () => {
    const one = { ...fresh, size: 1 };
    const listed = snapshot(0, [[at(5)]], follows(one));
    expect(abandonedIn(listed, snapshot(SECOND, [[at(5)]], follows()))).toEqual([{ path: '/new', bytes: 1 }]);
    const opened = [
      entry({ path: '/new', inode: '8', position: 0 }),
      fileOf(entry({ inode: '8', position: 0 }), 1),
    ] as const;
    expect(seen([listed]).memory.awaited.size).toBe(1);
    expect(seen([listed, snapshot(SECOND, [[at(5)], opened], follows(one))]).memory.awaited.size).toBe(0);
  });

  test('and that is truncated before, has lost what was in it', () => {
    const { memory } = seen([first, snapshot(SECOND, [[at(5)]], follows({ ...fresh, size: 2 }))]);
    expect([...memory.abandoned.values()]).toEqual([{ path: '/new', bytes: 3 }]);
  });

  test('is none that has lost its entry to the next file of its path, unless it was made later', () => {
    const renamed = (born: number) => follows({ path: `${LOG}.1`, inode: '7', size: 9, born });
    const over = { gone: new Map([[entryKeyIn(POS, at(5)), { size: undefined, isOpen: undefined }]]) };
    const first = snapshot(0, [[at(5), { atPath: { inode: '7', size: 5, born: 100 } }]]);
    const next = (second: number, changes: Partial<Snapshot>) =>
      snapshot(second * SECOND, [[entry({ inode: '8' })]], changes);
    const awaitedIn = (...looks: readonly Snapshot[]) => [
      ...seen([first, next(1, {}), ...looks]).memory.awaited.keys(),
    ];
    expect(awaitedIn(next(2, renamed(100)))).toEqual([]);
    expect(awaitedIn(next(20, over), next(21, { ...renamed(100), ...over }))).toEqual([]);
    expect(awaitedIn(next(2, renamed(200)))).toEqual(['7']);
  });

  test('is none that Fluentd has an entry for, though an earlier file had its inode at another path', () => {
    const had = (path: string, born: number) =>
      [entry({ path }), { atPath: { inode: '7', size: 5, born } }] as const;
    const looks = [
      snapshot(0, [had('/a', 100)]),
      snapshot(SECOND, [had('/b', 200)]),
      snapshot(2 * SECOND, [had('/a', 300)]),
      snapshot(3 * SECOND, [had('/a', 300)], follows({ path: '/a.1', inode: '7', size: 5, born: 300 })),
    ];
    expect([...seen(looks).memory.awaited.keys()]).toEqual([]);
  });

  test('with follow_inodes is none whose inode Fluentd knows, whenever it was made', () => {
    const known = entry({ path: '/a' });
    const anew = { path: '/b', inode: '7', size: 5, born: 900 };
    const [source] = follows(anew).followed;
    const looks = [true, false].map((byInode) => [
      snapshot(0, [[known, { atPath: { inode: '7', size: 0, born: 100 } }]]),
      snapshot(SECOND, [[known]], { followed: [{ ...source, byInode }] as Snapshot['followed'] }),
    ]);
    expect(looks.map((both) => seen(both).memory.awaited.size)).toEqual([0, 1]);
  });

  test('is not where nobody can list the files of a source', () => {
    const [listed] = follows().followed;
    const followed = [...follows().followed, { ...listed, unknown: 'closed' }] as Snapshot['followed'];
    expect(seen([first, snapshot(SECOND, [[at(5)]], { followed })]).memory.abandoned.size).toBe(0);
  });

  test.each([
    ['has an entry by then', [snapshot(SECOND, [[at(5)], [entry({ path: '/new', inode: '8' })]], follows())]],
    ['is there under another name', [snapshot(SECOND, [[at(5)]], follows({ ...fresh, path: '/newer' }))]],
    ['is empty', [snapshot(0, [[at(5)]], follows({ ...fresh, size: 0 })), snapshot(1, [[at(5)]], follows())]],
  ])('is not where it %s', (_, looks) => {
    const before = looks.length > 1 ? [] : [first];
    expect(seen([...before, ...looks]).memory.abandoned.size).toBe(0);
  });
});

describe('a position is held up', () => {
  const file = seen([snapshot(0, [[at(5), fileOf(at(5), 9)]])]).files[0];
  const heldUp = (
    state: 'behind' | 'missing',
    leftSince: number | undefined,
    known = { leftSince, heldUp: false },
  ) => file !== undefined && isHeldUp({ ...file, state, movedAt: 0 }, known, leftSince, 5_000);

  test('where it has stood still beside bytes for two seconds', () => {
    expect([3_000, 3_001, undefined].map((since) => heldUp('behind', since))).toEqual([true, false, false]);
  });

  test('when its file is away from its path where it was before', () => {
    expect(heldUp('missing', 3_000, { leftSince: undefined, heldUp: false })).toBe(false);
    expect(heldUp('missing', undefined, { leftSince: undefined, heldUp: true })).toBe(true);
    expect(heldUp('missing', undefined, { leftSince: 3_000, heldUp: false })).toBe(true);
    expect(heldUp('behind', undefined, { leftSince: 3_000, heldUp: true })).toBe(false);
  });
});

describe('ten thousand files that went away unread are told one by one', () => {
  const MOST = 10_000;
  const files = (count: number) =>
    new Map(Array.from({ length: count }, (_, index) => [`${index}`, { path: `/${index}`, bytes: 2 }]));
  const lastOf = (abandoned: ReadonlyMap<string, Abandoned>) => [...abandoned.values()].slice(MOST);

  test('and no more: the further ones are one sum, which grows', () => {
    expect(lastOf(summedUp(files(MOST), new Map()))).toEqual([]);
    expect(lastOf(summedUp(files(MOST + 1), new Map()))).toEqual([{ path: '/10000', bytes: 2, files: 1 }]);
    const summed = summedUp(files(MOST + 2), new Map());
    expect(lastOf(summed)).toEqual([{ path: '/10000', bytes: 4, files: 2 }]);
    const more = new Map([...summed, ['more', { path: '/more', bytes: 2 }]]);
    expect(lastOf(summedUp(more, new Map()))).toEqual([{ path: '/10000', bytes: 6, files: 3 }]);
  });

  test('beside those that may still be found again', () => {
    expect(lastOf(summedUp(files(MOST + 1), new Set(['10000'])))).toEqual([{ path: '/10000', bytes: 2 }]);
  });
});
