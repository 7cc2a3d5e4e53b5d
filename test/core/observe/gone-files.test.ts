import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import { NO_BUFFERS } from '../../../src/core/fluentd/buffer-contents.ts';
import type { MonitoredOutput } from '../../../src/core/fluentd/monitor-agent.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { entryKeyIn } from '../../../src/core/pos-file/pos-file.ts';
import {
  ABSENT,
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
  type Watched,
} from '../../support/builders.ts';

const SECOND = 1_000;
const old = entry({ position: 5 });
const next = entry({ position: 0, inode: '8' });
const blocked = [0, 2].map((second) => snapshot(second * SECOND, [[old, fileOf(old, 9)]]));
const justWritten = [snapshot(0, [[old]]), snapshot(2 * SECOND, [[old, fileOf(old, 9)]])];
const follows = (path: string, inode: string) => ({
  followed: [{ posFile: POS, refreshInterval: 60_000, byInode: false, files: [{ path, inode, size: 9 }] }],
});
/** The path has another file. */
const replaced = (second: number, changes: Partial<Snapshot> = {}, position = 0) => {
  const now = { ...next, position };
  return snapshot(second * SECOND, [[now, fileOf(now, 3)]], changes);
};
/** The size of the file that went away, when it is looked at. */
const goneAt = (size: number | undefined, isOpen?: boolean) => ({
  gone: new Map([[entryKeyIn(POS, old), { size, isOpen }]]),
});
const tail = (changes: Partial<Policy['tail']>) => policy({ tail: { ...DEFAULT_TAIL, ...changes } });
/** What each output's monitor_agent tells; undefined: nothing. */
const of = (...outputs: readonly (Partial<MonitoredOutput> | undefined)[]) => ({
  buffers: {
    ...NO_BUFFERS,
    none: false,
    outputs: outputs.map((one, index) => outputReading({ key: `0 #${index}`, told: one && told(one) })),
  },
});
const full = of({ space: 5 });
const room = of({});
const untold = of({}, undefined);
const hidden = { buffers: { ...room.buffers, hidden: ['some'] } };
const lostIn = (looks: readonly Snapshot[], rules?: Policy) => [
  ...seen(looks, rules).memory.abandoned.values(),
];

const KILLED = { fluentd: running({ workers: [{ pid: 4244, startTime: '3' }] }) };
const goneSince = (looks: readonly Snapshot[], inode: string) =>
  seen(looks).memory.gone.get(entryKeyIn(POS, entry({ inode })))?.since;

describe('a file whose path another one takes', () => {
  test('is left unread where it was held up, and stays so', () => {
    expect(lostIn([...blocked, replaced(3)])).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([...blocked, replaced(3), replaced(4, {}, 3), replaced(99, {}, 3)])).toEqual([
      { path: LOG, bytes: 4 },
    ]);
  });

  test('is left unread where the new one is held up from its beginning', () => {
    expect(lostIn([...justWritten, replaced(3), replaced(4)])).toEqual([]);
    expect(lostIn([...justWritten, replaced(3), replaced(5)])).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([...justWritten, replaced(3), replaced(4, {}, 3), replaced(7, {}, 3)])).toEqual([]);
  });

  test('is not told by any other file whether it was held up', () => {
    const other = entry({ path: '/other', position: 0, inode: '9' });
    const read = { ...next, position: 3 };
    const beside = (second: number) => snapshot(second * SECOND, [[other, fileOf(other, 3)], [read]]);
    expect(lostIn([...justWritten, beside(3), beside(5)])).toEqual([]);
  });

  test('was read from memory where it was not held up', () => {
    expect(lostIn([...justWritten, replaced(3, {}, 3), replaced(9, {}, 3)])).toEqual([]);
  });

  test.each([
    ['every buffer blocks in_tail when it is full', tail({ mayRefuse: false })],
    ['a limit slows in_tail down', tail({ readLimit: 8_192 })],
  ])('is read on where %s', (_, rules) => {
    expect(lostIn([...blocked, replaced(3), replaced(5)], rules)).toEqual([]);
  });

  test.each<[string, boolean, Partial<MonitoredOutput>, number, Policy?]>([
    ['is lost where a buffer is full a moment later', true, { space: 5 }, 3],
    ['is lost where a buffer has refused records since', true, { emitErrors: 1 }, 3],
    ['is read on where a buffer has room and refuses nothing', false, {}, 3],
    ['is read on where a buffer is full only long after', false, { space: 5 }, 30],
    ['is read on where every buffer blocks in_tail', false, { space: 5 }, 3, tail({ mayRefuse: false })],
    ['is lost where a buffer is full, also below a limit', true, { space: 5 }, 3, tail({ readLimit: 8_192 })],
  ])('%s', (_, isLost, changes, second, rules) => {
    const of = (output: Partial<MonitoredOutput>) => {
      const outputs = [outputReading({ told: told(output) })];
      return { buffers: { ...NO_BUFFERS, none: false, asked: true, outputs } };
    };
    const away = [replaced(2, of({}), 3), replaced(second, of(changes), 3), replaced(second + 1, {}, 3)];
    const looks = [snapshot(0, [[old, fileOf(old, 9)]], of({})), ...away];
    expect(lostIn(looks, rules)).toEqual(isLost ? [{ path: LOG, bytes: 4 }] : []);
  });

  describe('and was held up by a full buffer', () => {
    const other = { ...room, fluentd: running({ workers: [{ pid: 9, startTime: '9' }] }) };
    const before = [0, 2].map((second) => snapshot(second * SECOND, [[old, fileOf(old, 9)]], full));

    test.each<[string, boolean, readonly (readonly [second: number, changes: Partial<Snapshot>])[]]>([
      [
        'is read on where there was room for two seconds in time',
        false,
        [
          [4, room],
          [6, room],
        ],
      ],
      [
        'is lost where there was room for less',
        true,
        [
          [4, room],
          [5.9, room],
        ],
      ],
      [
        'is lost where there was room only later',
        true,
        [
          [4, full],
          [6, room],
          [8.1, room],
        ],
      ],
      [
        'is lost where a buffer refused records meanwhile',
        true,
        [
          [4, room],
          [6, of({ emitErrors: 1 })],
        ],
      ],
      [
        'is lost where another buffer has no room',
        true,
        [
          [4, of({}, { space: 5 })],
          [6, of({}, { space: 5 })],
        ],
      ],
      [
        'is lost where nobody tells of a buffer',
        true,
        [
          [4, untold],
          [6, untold],
        ],
      ],
      [
        'is lost where some buffer is not known',
        true,
        [
          [4, hidden],
          [6, hidden],
        ],
      ],
      [
        'is lost where the worker was replaced',
        true,
        [
          [4, room],
          [5, other],
          [7.5, other],
        ],
      ],
    ])('%s', (_, isLost, later) => {
      const away = later.map(([second, changes]) => replaced(second, changes, 3));
      const looks = [...before, replaced(3, full), ...away, replaced(9, { buffers: undefined }, 3)];
      expect(lostIn(looks)).toEqual(isLost ? [{ path: LOG, bytes: 4 }] : []);
    });

    test.each([
      ['is lost where it may have been closed before there was room: no look saw when it went away', 6, true],
      ['is read on where a look saw it until shortly before', 3, false],
    ])('%s', (_, second, isLost) => {
      const looks = [
        replaced(second, full),
        replaced(second + 1, room, 3),
        replaced(second + 3.5, room, 3),
        replaced(second + 4, { buffers: undefined }, 3),
      ];
      expect(lostIn([...before, ...looks])).toEqual(isLost ? [{ path: LOG, bytes: 4 }] : []);
    });

    test.each([
      ['is lost where in_tail lets go of it at once, and a buffer refuses the rest in time', 3, true],
      ['was read where in_tail lets go of it, and a buffer is full only later', 30, false],
    ])('%s', (_, second, isLost) => {
      const gone = { renamed: { path: `${LOG}.1`, stat: { inode: '7', size: 9 } } };
      const letGo = (when: number, changes: Partial<Snapshot>) =>
        snapshot(when * SECOND, [[{ ...old, position: null }, {}]], { ...goneAt(9), ...changes });
      const begin = [snapshot(0, [[old]], room), snapshot(1 * SECOND, [[old, gone]], { buffers: undefined })];
      const unasked = { buffers: undefined };
      const later = [letGo(1.1, unasked), letGo(second, full), letGo(second + 1, unasked)];
      expect(lostIn([...begin, ...later])).toEqual(isLost ? [{ path: LOG, bytes: 4 }] : []);
      expect(lostIn([...begin.slice(0, 1), snapshot(500, [[old, fileOf(old, 9)]]), ...later])).toEqual(
        isLost ? [{ path: LOG, bytes: 4 }] : [],
      );
    });

    test('is not lost where its own entry shows that it was read', () => {
      const renamed = (position: number) => {
        const now = { ...old, position };
        return [
          now,
          { atPath: { inode: '8', size: 3 }, renamed: { path: `${LOG}.1`, stat: { inode: '7', size: 9 } } },
        ] as const;
      };
      const looks = [5, 9].map((position, index) =>
        snapshot((3 + index) * SECOND, [renamed(position)], { ...full, ...goneAt(9) }),
      );
      expect(lostIn([...before, ...looks])).toEqual([]);
    });
  });

  test('before a look has found its rest, has the size with which it waited for in_tail', () => {
    const waiting = snapshot(0, [], follows(LOG, '7'));
    const turned = snapshot(SECOND, [[old, { atPath: { inode: '8', size: 3 } }]], follows(LOG, '7'));
    const { memory } = seen([waiting, turned, replaced(2, follows(LOG, '8'), 3)], tail({ readLimit: 8_192 }));
    expect([...memory.gone.values()]).toMatchObject([{ path: LOG, inode: '7', rest: 4 }]);
  });

  test('is not lost where it is followed under its new name', () => {
    expect(lostIn([...blocked, replaced(3, follows(`${LOG}.1`, '7'))])).toEqual([]);
    const renamed = entry({ path: `${LOG}.1`, position: 9 });
    expect(
      lostIn([...blocked, replaced(3), snapshot(4 * SECOND, [[next, fileOf(next, 3)], [renamed]])]),
    ).toEqual([]);
  });

  test('counts once: the next file of the path does not bring it back', () => {
    const third = entry({ position: 0, inode: '9' });
    const looks = [...justWritten, replaced(3, {}, 3), snapshot(4 * SECOND, [[third]])];
    const then = { since: 3 * SECOND, isClosed: false, isOver: false, isCut: false, hasEntry: false };
    expect(seen(looks).memory.gone.get(entryKeyIn(POS, old))).toMatchObject(then);
  });
});

describe('a throttled file that is truncated after it was renamed', () => {
  const limited = tail({ readLimit: 100 });
  const born = 100;
  const justWritten = [0, 2].map((second) =>
    snapshot(second * SECOND, [[old, { atPath: { inode: '7', size: second === 0 ? 5 : 9, born } }]]),
  );
  const renamed = (second: number, size: number, isOpen: boolean | undefined) =>
    replaced(second, { gone: new Map([[entryKeyIn(POS, old), { size, born, isOpen }]]) });

  test.each<[string, boolean | undefined, Policy | undefined, number]>([
    ['loses what in_tail has not read, while it has it open', true, limited, 1],
    ['may lose it where nobody sees what in_tail has open', undefined, limited, 1],
    ['loses nothing when in_tail has closed it', false, limited, 0],
    ['was read at once without a limit', true, undefined, 0],
  ])('%s', (_, isOpen, rules, lost) => {
    const looks = [replaced(3), renamed(4, 9, isOpen), renamed(5, 2, isOpen), renamed(6, 2, false)];
    expect(lostIn([...justWritten, ...looks], rules)).toEqual(Array(lost).fill({ path: LOG, bytes: 4 }));
  });
});

describe('a throttled file that keeps its entry, and is truncated', () => {
  const limited = tail({ readLimit: 100 });
  const born = 100;
  const there = snapshot(0, [[old, { atPath: { inode: '7', size: 9, born } }]]);
  const away = (second: number, size: number, isOpen = true) => {
    const stat = { inode: '7', size, born };
    return snapshot(second * SECOND, [[old, { renamed: { path: `${LOG}.1`, stat } }]], {
      gone: new Map([[entryKeyIn(POS, old), { ...stat, path: `${LOG}.1`, isOpen }]]),
    });
  };

  test.each([
    ['as it is renamed', [away(1, 0), away(2, 0)]],
    ['as it is renamed, before the last look', [away(1, 0)]],
    ['later', [away(1, 9), away(2, 9), away(3, 0), away(4, 0, false)]],
  ])('%s, loses what in_tail has not read', (_, looks) => {
    expect(lostIn([there, ...looks], limited)).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([there, ...looks])).toEqual([]);
    expect(lostIn([there, away(1, 9)], limited)).toEqual([]);
  });
});

describe('a path whose files have the inodes of earlier ones', () => {
  const at = (second: number, inode: string, position = 3, changes: Partial<Snapshot> = {}) => {
    const now = entry({ inode, position });
    return snapshot(second * SECOND, [[now, fileOf(now, 3)]], changes);
  };
  const turns = [at(0, '7'), at(10, '8'), at(20, '7'), at(30, '8')];

  test('has each go away when the next one comes', () => {
    expect(goneSince(turns, '7')).toBe(30 * SECOND);
  });

  test('does not have one go away a second time when a third one comes', () => {
    const looks = [...turns, at(40, '9')];
    expect(goneSince(looks, '7')).toBe(30 * SECOND);
    expect(goneSince(looks, '8')).toBe(40 * SECOND);
    const another = [
      ...[0, 6].map((size, index) => at(41 + 6 * index, '9', 3, goneAt(size))),
      at(70, '9', 3, goneAt(60)),
    ];
    expect(lostIn([...looks, ...another])).toEqual([]);
  });

  test('keeps what was lost with an earlier one, though the next one is larger', () => {
    const born = (second: number, inode: string, at: number, size: number) => {
      const now = entry({ inode, position: 3 });
      return snapshot(second * SECOND, [[now, { atPath: { inode, size, born: at } }]]);
    };
    const looks = [born(0, '7', 100, 3), born(1, '7', 100, 9), at(2, '8', 3, KILLED)];
    expect(lostIn(looks)).toEqual([{ path: LOG, bytes: 6 }]);
    expect(lostIn([...looks, born(9, '7', 200, 99), born(10, '7', 200, 99)])).toEqual([
      { path: LOG, bytes: 6 },
    ]);
    expect(lostIn([...looks, born(9, '7', 100, 99)])).toEqual([]);
  });

  test('reads no more of one whose inode another file has got, also below a limit', () => {
    const limited = tail({ readLimit: 1 });
    const open = at(3, '8', 3, goneAt(9, true));
    const looks = [...justWritten, at(2, '8'), open, at(30, '8', 3, goneAt(2, false))];
    expect(seen(looks.slice(0, -1), limited).memory.gone.get(entryKeyIn(POS, old))?.isOpen).toBe(true);
    expect(seen(looks, limited).memory.gone.get(entryKeyIn(POS, old))).toMatchObject({
      isOver: true,
      isOpen: false,
    });
    expect(lostIn([...looks, at(31, '8', 3, KILLED)], limited)).toEqual([]);
  });

  test('of more than a thousand that went away, forgets the oldest that were read', () => {
    const pathsAt = (second: number, isTurned: (index: number) => boolean) =>
      snapshot(
        second * SECOND,
        Array.from({ length: 1_005 }, (_, index) => {
          const now = entry({
            path: `/${index}`,
            inode: `${isTurned(index) ? 9_000 + index : index}`,
            position: 3,
          });
          return [now, fileOf(now, 3)] as const;
        }),
      );
    const looks = [pathsAt(0, () => false), pathsAt(1, (index) => index < 9), pathsAt(30, () => true)];
    const kept = [...seen(looks).memory.gone.values()].map(({ path }) => path);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([1_000, '/5', '/1004']);
  });

  test('has the next one begin anew, though it is shorter', () => {
    const long = entry({ position: 9 });
    const looks = [snapshot(0, [[long]]), at(10, '8'), at(20, '7')];
    expect([...seen(looks).memory.gone.keys()]).toEqual([entryKeyIn(POS, entry({ inode: '8' }))]);
    const { files } = seen([...looks.slice(0, 2), at(20, '7', 2)]);
    expect(files).toMatchObject([{ state: 'behind', movedAt: 20 * SECOND }]);
  });
});

describe('a truncated file that was written to just before', () => {
  const cut = (second: number, position: number) => {
    const now = { ...old, position };
    return snapshot(second * SECOND, [[now, fileOf(now, 3)]]);
  };

  test('has lost the rest where it is held up from its new beginning', () => {
    expect(lostIn([...justWritten, cut(3, 0), cut(4, 0)])).toEqual([]);
    expect(lostIn([...justWritten, cut(3, 0), cut(5, 0)])).toEqual([{ path: LOG, bytes: 4 }]);
  });

  test('has lost it also where there is room later', () => {
    const later = [6, 8, 9].map((second) => ({ ...cut(second, 3), ...room }));
    const looks = [...justWritten, { ...cut(3, 0), ...full }, { ...cut(5, 0), ...full }, ...later];
    expect(lostIn(looks)).toEqual([{ path: LOG, bytes: 4 }]);
  });

  test('may have been read where it is read on', () => {
    expect(lostIn([...justWritten, cut(3, 0), cut(4, 3), cut(7, 3)])).toEqual([]);
  });
});

describe('a file that is written to when it has gone away', () => {
  const rules = tail({ rotateWait: 2_000 });
  const grown = (second: number, size: number) => replaced(second, goneAt(size), 3);
  const renamed = [snapshot(0, [[old]]), grown(1, 5)];

  test('is read within rotate_wait', () => {
    expect(lostIn([...renamed, grown(3, 50), grown(9, 50)], rules)).toEqual([]);
  });

  test('and later has lost what came', () => {
    const looks = [...renamed, grown(3, 50), grown(5, 60), grown(6, 90), grown(7, 100)];
    expect(lostIn(looks, rules)).toEqual([{ path: LOG, bytes: 40 }]);
  });

  test('has lost nothing where it is followed under its new name', () => {
    const listed = { ...goneAt(90), ...follows(`${LOG}.1`, '7') };
    expect(lostIn([...renamed, grown(5, 60), replaced(6, listed, 3)], rules)).toEqual([]);
  });

  test('has lost nothing where its own entry moves on', () => {
    const away = (second: number, position: number) => {
      const now = { ...old, position };
      const renamedTo = { renamed: { path: `${LOG}.1`, stat: { inode: '7', size: position } } };
      const atPath = { inode: '8', size: 0 };
      return snapshot(second * SECOND, [[now, { atPath, ...renamedTo }], [next]], goneAt(position));
    };
    expect(lostIn([...renamed.slice(0, 1), away(1, 5), away(5, 5), away(6, 90)], rules)).toEqual([]);
  });

  test('is over where another file has got its inode', () => {
    const looks = [...renamed, grown(5, 60), grown(6, 3)];
    expect(lostIn([...looks, grown(7, 70)], rules)).toEqual([]);
    const other = entry({ path: `${LOG}.other`, position: 9 });
    const taken = {
      gone: new Map([[entryKeyIn(POS, old), { path: other.path, size: 70, isOpen: undefined }]]),
    };
    const followed = snapshot(6 * SECOND, [[next], [other]], taken);
    expect(lostIn([...renamed, grown(5, 60), followed, grown(7, 70)], rules)).toEqual([]);
    expect(lostIn([...renamed, grown(5, 60), grown(6, 61), grown(7, 3)], rules)).toEqual([
      { path: LOG, bytes: 1 },
    ]);
  });

  test('is over where the file with its inode was made at another time, whatever its size', () => {
    const bornAt = (size: number, born: number) => ({
      gone: new Map([[entryKeyIn(POS, old), { size, born, isOpen: undefined }]]),
    });
    const made = (second: number, size: number, born: number) => replaced(second, bornAt(size, born), 3);
    const begun = [...renamed, made(2, 5, 100), made(5, 5, 100)];
    expect(lostIn([...begun, made(6, 9, 100)], rules)).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([...begun, made(6, 9, 200), made(7, 19, 200)], rules)).toEqual([]);
  });

  test('has lost it where its entry is marked as unwatched, and another one of its path follows it', () => {
    const at = (second: number, position: number | null, size: number) => {
      const renamedTo = { renamed: { path: `${LOG}.1`, stat: { inode: '7', size } } };
      const own: Watched = [
        { ...old, position },
        position === null ? {} : { atPath: { inode: '8', size: 3 }, ...renamedTo },
      ];
      return snapshot(second * SECOND, [own, [next, fileOf(next, 3)]], goneAt(size));
    };
    const looks = [snapshot(0, [[old]]), at(1, 5, 5), at(3, null, 5), at(9, null, 5)];
    expect(lostIn(looks, rules)).toEqual([]);
    expect(lostIn([...looks, at(10, null, 25)], rules)).toEqual([{ path: LOG, bytes: 20 }]);
  });

  test('at its dated path, which in_tail has let go of, has lost it', () => {
    const letGo = (second: number, size: number, changes: Partial<Snapshot> = {}) =>
      snapshot(second * SECOND, [[entry({ position: null }), { atPath: { inode: '7', size } }]], {
        ...goneAt(size),
        ...changes,
      });
    const looks = [snapshot(0, [[old]]), letGo(1, 5), letGo(2, 5), letGo(3, 25)];
    expect(lostIn(looks)).toEqual([{ path: LOG, bytes: 20 }]);
    expect(lostIn([...looks.slice(0, 3), letGo(3, 25, follows(LOG, '7'))])).toEqual([]);
  });
});

describe('a Fluentd that ends', () => {
  const ended = { fluentd: ABSENT };

  test.each([
    ['a Fluentd', ended],
    ['a worker', { fluentd: running({ workers: [] }) }],
  ])(
    'below a limit, %s that is gone has not read the rest of a file that went away a moment ago',
    (_, ended) => {
      const limited = tail({ readLimit: 1 });
      expect(lostIn([...justWritten, replaced(3), replaced(4, ended, 3)], limited)).toEqual([
        { path: LOG, bytes: 4 },
      ]);
      expect(lostIn([...justWritten, replaced(3), replaced(99, ended, 3)], limited)).toEqual([]);
    },
  );

  test.each([
    ['another container', { kind: 'remote', permitted: true } as const],
    ['one process', running({ workers: [], alone: true })],
  ])('is another thing than a Fluentd in %s, which reads on below a limit', (_, fluentd) => {
    const on = (second: number) => replaced(second, { fluentd }, 3);
    expect(lostIn([...justWritten, on(3), on(4)], tail({ readLimit: 1 }))).toEqual([]);
  });

  test('and comes back, in another container too, has not read what went away meanwhile', () => {
    const back = { fluentd: { kind: 'remote', permitted: true } } as const;
    const away = snapshot(3 * SECOND, [[old, {}]], ended);
    expect(lostIn([...justWritten, away, replaced(4, back, 3)])).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([...justWritten, away, replaced(4, ended, 3)])).toEqual([]);
  });

  test('without a limit reads it on at its shutdown', () => {
    expect(lostIn([...justWritten, replaced(3), replaced(4, ended, 3)])).toEqual([]);
  });
});

describe('a worker that is replaced', () => {
  const killed = { fluentd: running({ workers: [{ pid: 4244, startTime: '3' }] }) };

  test('has not read the rest of a file that went away a moment ago, as far as anybody can show', () => {
    expect(lostIn([...justWritten, replaced(3), replaced(4, killed, 3)])).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([...justWritten, replaced(3, killed, 3)])).toEqual([{ path: LOG, bytes: 4 }]);
  });

  test('has read the rest of one that went away longer ago, or that had none', () => {
    expect(lostIn([...justWritten, replaced(3, {}, 3), replaced(30, killed, 3)])).toEqual([]);
    expect(lostIn([snapshot(0, [[old]]), replaced(3, {}, 3), replaced(4, killed, 3)])).toEqual([]);
    expect(lostIn([snapshot(0, [[old]]), replaced(3, killed, 3)])).toEqual([]);
  });

  test('has it to read until a second after rotate_wait', () => {
    const killedAt = (second: number) => [...justWritten, replaced(3, {}, 3), replaced(second, killed, 3)];
    expect(lostIn(killedAt(9))).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn(killedAt(9.001))).toEqual([]);
  });

  test.each([
    [6, [{ path: LOG, bytes: 1 }]],
    [5, []],
  ])('has not read the rest of a file that goes away in the same moment: %i bytes', (size, lost) => {
    const away = snapshot(3 * SECOND, [[old, {}]], killed);
    expect(lostIn([snapshot(0, [[old]]), snapshot(SECOND, [[old, fileOf(old, size)]]), away])).toEqual(lost);
  });

  test('has not read the rest of a file that went away before it had opened its own', () => {
    const starting = { fluentd: running({ workers: [{ pid: 4244, startTime: '3' }], isStarting: true }) };
    const unread = snapshot(3 * SECOND, [[old, fileOf(old, 9)]], starting);
    expect(lostIn([...justWritten, unread, replaced(4, killed)])).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([...justWritten, unread, replaced(30, killed)])).toEqual([{ path: LOG, bytes: 4 }]);
    expect(
      lostIn([unread, snapshot(4 * SECOND, [[old, fileOf(old, 9)]], killed), replaced(5, killed)]),
    ).toEqual([]);
  });

  test('has not read the rest of a file whose line it dropped at its start', () => {
    const before = [snapshot(0, [[old]]), snapshot(SECOND, [[old, fileOf(old, 9)]])];
    const dropped = (second: number, changes = {}) => snapshot(second * SECOND, [], changes);
    expect(lostIn([...before, dropped(2, killed), dropped(9, killed)])).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([...before, dropped(2, { ...killed, ...follows(LOG, '7') })])).toEqual([]);
    expect(lostIn([...before, dropped(2), snapshot(3 * SECOND, [[old, fileOf(old, 9)]])])).toEqual([]);
    expect(lostIn([snapshot(0, [[old]]), dropped(2, killed)])).toEqual([]);
  });

  test('below a limit has read it where it had closed it', () => {
    const limited = tail({ readLimit: 0 });
    const closing = (isOpen: boolean) => [
      ...justWritten,
      replaced(3, {}, 3),
      replaced(30, goneAt(9, isOpen), 3),
      replaced(31, killed, 3),
    ];
    expect(lostIn(closing(true), limited)).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn(closing(false), limited)).toEqual([]);
  });

  test('below a limit stays known to have closed it when nobody is left to look at', () => {
    const gone = { fluentd: ABSENT, ...goneAt(9) };
    const looks = [...justWritten, replaced(3, {}, 3), replaced(4, goneAt(9, false), 3)];
    const ended = [replaced(5, gone, 3), replaced(6, gone, 3)];
    expect(lostIn([...looks, ...ended], tail({ readLimit: 0, rotateWait: 0 }))).toEqual([]);
  });
});

describe('a worker in another container', () => {
  const limited = tail({ readLimit: 1 });
  const remote = (pid: number) => ({
    fluentd: { kind: 'remote', permitted: true } as const,
    buffers: { ...NO_BUFFERS, asked: true, agents: new Map([[0, `${pid} 1`]]) },
  });
  const away = snapshot(3 * SECOND, [[old, {}]], remote(9));
  const before = [snapshot(0, [[old]], remote(9)), snapshot(SECOND, [[old, fileOf(old, 9)]], remote(9))];
  const dropped = (second: number) => snapshot(second * SECOND, [], remote(9));

  test('that is another one has not read the rest of a file that went away a moment ago', () => {
    expect(lostIn([...before, replaced(3, remote(9), 3), replaced(4, remote(10), 3)], limited)).toEqual([
      { path: LOG, bytes: 4 },
    ]);
    expect(lostIn([...before, replaced(3, remote(10), 3)])).toEqual([{ path: LOG, bytes: 4 }]);
  });

  test.each([
    ['that is the same', 4, 9],
    ['that is another one long after', 99, 10],
  ])('%s has read it', (_, second, pid) => {
    expect(lostIn([...before, replaced(3, remote(9), 3), replaced(second, remote(pid), 3)], limited)).toEqual(
      [],
    );
  });

  test('has not read it where the pos file has lost its entry a moment later, in more than one look', () => {
    expect(lostIn([...before, away, dropped(4)], limited)).toEqual([]);
    expect(lostIn([...before, away, dropped(4), dropped(5)], limited)).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([...before, away, dropped(98), dropped(99)], limited)).toEqual([]);
    expect(lostIn([...before, away, dropped(4), dropped(5)])).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([...before, away, dropped(8), dropped(9)])).toEqual([{ path: LOG, bytes: 4 }]);
    expect(lostIn([...before, away, dropped(9), dropped(10)])).toEqual([]);
  });

  test('has dropped no entry that a look finds missing while the pos file is compacted', () => {
    const empty = snapshot(4 * SECOND, [], { ...remote(9), posFiles: [{ path: POS, kind: 'empty' }] });
    expect(lostIn([...before, empty, snapshot(5 * SECOND, [[old, {}]], remote(9))], limited)).toEqual([]);
    expect(lostIn([...before, away, empty, snapshot(5 * SECOND, [[old, {}]], remote(9))], limited)).toEqual(
      [],
    );
  });
});
