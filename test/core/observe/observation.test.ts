import { describe, expect, test } from 'vitest';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import type { PosFileReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import {
  ABSENT,
  entry,
  fileOf,
  LOG,
  POS,
  policy,
  reading,
  running,
  seen,
  snapshot,
} from '../../support/builders.ts';

const SECOND = 1_000;
const at = (position: number | null) => entry({ position });
const empty: readonly PosFileReading[] = [{ path: POS, kind: 'empty' }];
const missing: readonly PosFileReading[] = [{ path: POS, kind: 'missing' }];
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

describe('"everything read"', () => {
  const left = fileOf(at(5), 9);

  test('holds since the first look that found it', () => {
    const looks = [snapshot(0, [[at(5), left]]), snapshot(SECOND, [[at(5)]]), snapshot(2_000, [[at(5)]])];
    expect(seen(looks).readSince).toBe(SECOND);
  });

  test('holds no longer when bytes are left, and begins anew', () => {
    const looks = [snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(5), left]])];
    expect(seen(looks).readSince).toBeUndefined();
    expect(seen([...looks, snapshot(2_000, [[at(5)]])]).readSince).toBe(2_000);
  });

  test('begins anew with a movement', () => {
    expect(seen([snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(6)]])]).readSince).toBe(SECOND);
  });

  test.each([
    ['missing', missing],
    ['empty for one look', empty],
    ['unreadable', [{ path: POS, kind: 'unreadable', error: 'EIO' }]],
  ] as const)('does not hold where a pos file is %s', (_, posFiles) => {
    expect(seen([snapshot(0, [[at(5)]]), without(SECOND, posFiles)])).toMatchObject({
      readSince: undefined,
      unknown: [{ path: POS }],
    });
  });

  test('does not hold where a pos file has fewer entries than before', () => {
    const other = entry({ path: '/other' });
    const looks = [snapshot(0, [[at(5)], [other, fileOf(other, 999)]]), snapshot(SECOND, [[at(5)]])];
    expect(seen(looks)).toMatchObject({ readSince: undefined, unknown: [{ path: POS }] });
  });
});

describe('an empty pos file', () => {
  test('that had entries is believed after the settle time', () => {
    const looks = [snapshot(0, [[at(5)]]), without(SECOND, empty), without(2_900, empty)];
    expect(seen(looks).unknown).toHaveLength(1);
    expect(seen([...looks, without(3_000, empty)]).unknown).toEqual([]);
  });

  test('that never had any is believed after in_tail must have looked for files', () => {
    const rules = policy({ tail: { ...DEFAULT_TAIL, refreshInterval: 10_000 }, settle: 2_000 });
    expect(seen([without(0, empty), without(11_900, empty)], rules).unknown).toHaveLength(1);
    expect(seen([without(0, empty), without(12_000, empty)], rules).unknown).toEqual([]);
  });

  test('says that Fluentd has started, and not that it has read', () => {
    expect(seen([without(0, empty)])).toMatchObject({ started: true, logged: false });
    expect(seen([without(0, missing)])).toMatchObject({ started: false, logged: false });
  });
});

describe('logged', () => {
  test('is nothing while every entry stands at 0', () => {
    expect(seen([snapshot(0, [[at(0), fileOf(at(0), 50)]])]).logged).toBe(false);
  });

  test('stays true, whatever becomes of the entry', () => {
    expect(seen([snapshot(0, [[at(5)]]), without(SECOND, empty)]).logged).toBe(true);
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

  test('of a path with a newer line counts only while it is on disk', () => {
    const older = entry({ inode: '6' });
    const renamed = { path: `${LOG}.1`, stat: { inode: '6', size: 100 } };
    const here = { atPath: { inode: '7', size: 100 } };
    expect(seen([snapshot(0, [[older, { ...here, renamed }], [entry()]])]).files).toHaveLength(2);
    expect(seen([snapshot(0, [[older, here], [entry()]])]).files).toMatchObject([{ inode: '7' }]);
  });
});

describe('fluentd', () => {
  const absent = (when: number): Snapshot => snapshot(when, [[at(5)]], { fluentd: ABSENT });

  test('that was never seen is not gone', () => {
    expect(seen([absent(0), absent(SECOND)]).goneSince).toBeUndefined();
  });

  test('is gone since the first look without it, and no longer when it is back', () => {
    const looks = [snapshot(0, [[at(5)]]), absent(SECOND), absent(2_000)];
    expect(seen(looks).goneSince).toBe(SECOND);
    expect(seen([...looks, snapshot(3_000, [[at(5)]])]).goneSince).toBeUndefined();
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
    const abandoned = [[`${LOG}\t7`, { path: LOG, bytes: 7 }]];
    expect([...seen(letGoAfter(2_000), rules).memory.abandoned]).toEqual(abandoned);
    const later = [...letGoAfter(2_000), snapshot(9_000, [[at(null), {}]])];
    expect([...seen(later, rules).memory.abandoned]).toEqual(abandoned);
  });

  test('within a moment of being written to, has been read from memory', () => {
    expect(seen(letGoAfter(900), rules).memory.abandoned.size).toBe(0);
  });

  test('below a limit is read on: as many bytes are waited for, from then on', () => {
    const { memory, rotatedAt } = seen(
      letGoAfter(2_000),
      policy({ tail: { ...DEFAULT_TAIL, readLimit: 10_000 } }),
    );
    expect(memory.abandoned.size).toBe(0);
    expect(memory.leftBehind).toBe(7);
    expect(rotatedAt).toBe(4_000);
  });
});

describe('a file that in_tail has still to find', () => {
  const follows = (...files: readonly { path: string; inode: string; size: number }[]) => ({
    followed: [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }],
  });
  const fresh = { path: '/new', inode: '8', size: 3 };
  const first = snapshot(0, [[at(5)]], follows(fresh));

  test('and that goes away before, is left unread', () => {
    const { memory } = seen([first, snapshot(SECOND, [[at(5)]], follows())]);
    expect([...memory.abandoned.values()]).toEqual([{ path: '/new', bytes: 3 }]);
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

describe('a worker', () => {
  const worker = (pid: number) => ({ pid, startTime: String(pid) });
  const runs = (when: number, ...workers: readonly number[]) =>
    snapshot(when, [[at(5)]], { fluentd: running({ workers: workers.map(worker) }) });

  test.each<[string, readonly Snapshot[], boolean]>([
    ['in whose place another one runs has been replaced', [runs(0, 1), runs(1, 2)], true],
    ['that was away for a look has been replaced', [runs(0, 1), runs(1), runs(2, 2)], true],
    ['beside whom another one starts has not', [runs(0, 1), runs(1, 1, 2)], false],
    ['that ends with its Fluentd has not', [runs(0, 1, 2), runs(1, 2), runs(2)], false],
    [
      'of a Fluentd in whose place another one runs has been replaced',
      [
        runs(0, 1),
        snapshot(1, [[at(5)]], {
          fluentd: running({ supervisor: { pid: 9, startTime: '9' }, workers: [worker(2)] }),
        }),
      ],
      true,
    ],
  ])('%s', (_, looks, replaced) => {
    expect(seen(looks).memory.workerReplaced).toBe(replaced);
  });
});
