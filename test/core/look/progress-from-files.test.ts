import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { PosFileReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import type { Doubt, Left, Progress } from '../../../src/core/progress/progress.ts';
import {
  ABSENT,
  chunkPath,
  entry,
  IN_MEMORY,
  LOG,
  NO_BUFFERS,
  onDisk,
  POS,
  policy,
  reading,
  running,
  seen,
  snapshot,
  type Watched,
  WRAPPER,
} from '../../support/builders.ts';
import { EMPTY, followed, MISSING, sized, tailRules, unfound } from '../worlds.ts';

const behind = sized(130);
const other = entry({ path: '/other', inode: '9' });
const unfinished: Watched = [entry(), { atPath: { inode: '7', size: 130 }, newlineLeft: false }];
const next = entry({ inode: '8', position: 3 });
const removed: Watched = [entry(), {}];
const unseen: Watched = [entry(), { error: 'EACCES' }];

function known(looks: readonly Snapshot[], rules: Partial<Policy> = {}): Progress {
  return seen(looks, policy(rules)).progress;
}

const one = (files: readonly Watched[], changes: Partial<Snapshot> = {}) => [snapshot(0, files, changes)];

describe('seen from outside, these are left:', () => {
  const ids = ['0'.repeat(32), `${'0'.repeat(31)}1`];
  const chunks: Left = { kind: 'held', output: 'out', chunks: 2, bytes: 7, ids, next: 'flush' };
  const chunk = { path: chunkPath(1), size: 9 };
  const unfoundOne: Left = { kind: 'unfound', path: '/new', bytes: 1 };
  const letGo: Watched = [entry({ position: null }), { atPath: { inode: '7', size: 1 } }];
  const givenUp: Left = { kind: 'given-up', path: chunk.path, bytes: 9 };
  test.each<[string, readonly Snapshot[], readonly Left[]]>([
    ['nothing of a file that is read', one([[entry()]]), []],
    ['a file with lines left', one([behind]), [{ kind: 'unread', path: LOG, bytes: 30 }]],
    ['a last line without its newline', one([unfinished]), [{ kind: 'unfinished', path: LOG, bytes: 30 }]],
    ['nothing of a file that cannot be looked at', one([unseen]), []],
    ['nothing of a file that is gone: nobody sees it', [...one([behind]), snapshot(1_000, [removed])], []],
    ['a file that in_tail has not found', one([], unfound(1)), [unfoundOne]],
    ['no empty file that in_tail has not found', one([], unfound(0)), []],
    [
      'such a file beside a pos file that never was there',
      one([], { ...MISSING, ...unfound(1) }),
      [unfoundOne],
    ],
    [
      'such a file whose entry was let go',
      one([letGo], unfound(1, LOG, '7')),
      [{ ...unfoundOne, path: LOG }],
    ],
    ['chunks on disk, by their ids', one([], { buffers: onDisk(3, 4) }), [chunks]],
    ['no empty buffer', one([], { buffers: onDisk() }), []],
    ['no buffer in memory: nobody sees it', one([], { buffers: IN_MEMORY }), []],
    ['a chunk that Fluentd gave up', one([], { buffers: { ...NO_BUFFERS, givenUp: [chunk] } }), [givenUp]],
  ])('%s', (_, looks, left) => {
    expect(known(looks).left).toEqual(left);
  });
});

describe('seen from outside, these are doubted:', () => {
  const rest: Partial<Doubt> = { kind: 'closed-unread', about: LOG, bytes: 30 };
  const unlisted: Partial<Doubt> = { kind: 'unlisted', why: expect.stringContaining(`${POS}: EACCES`) };
  const unlistedAt = (posFile: string) =>
    followed({ unknown: 'EACCES' }).followed.map((source) => ({ ...source, posFile }));
  const goes = (...files: readonly Watched[]) => [...one([behind]), snapshot(1_000, files)];
  test.each<[string, readonly Snapshot[], readonly Partial<Doubt>[]]>([
    ['nothing more where all is read', one([[entry()]]), []],
    [
      'what a pos file says that is not there',
      one([], MISSING),
      [{ kind: 'pos-file', about: POS, why: 'is not there' }],
    ],
    ['whether an empty pos file has no entry', one([], EMPTY), [{ kind: 'empty-pos-file', about: POS }]],
    ['which files a source has that cannot be listed', one([], followed({ unknown: 'EACCES' })), [unlisted]],
    [
      'the same of several sources, once',
      one([], { followed: ['/b', '/c', '/c'].flatMap((posFile) => unlistedAt(posFile)) }),
      [{ kind: 'unlisted', why: 'posidle cannot tell which files belong to /b (and 1 more): EACCES' }],
    ],
    ['what is left of a file that cannot be looked at', one([unseen]), [{ kind: 'unseen', about: LOG }]],
    ['whether the rest of a file that was removed was read', goes(removed), [rest]],
    ['whether the rest of a file was read whose entry made way for another one', goes([next]), [rest]],
  ])('%s', (_, looks, doubts) => {
    expect(known(looks).doubts.slice(1)).toMatchObject(doubts);
  });

  const opened = (file: string): Partial<Snapshot> => ({
    posFiles: [{ ...reading([behind]), file } as PosFileReading],
  });
  test.each<[string, Partial<Snapshot>, RegExp]>([
    ['was removed', { ...MISSING, ...unfound(130, LOG, '7') }, /^is not there\. .* \/var\/log\/app\.log is/],
    ['was emptied', { ...EMPTY, ...unfound(130, LOG, '7') }, /^has lost the entry of .*app\.log/],
    ['was replaced', opened('b'), /^was replaced while/],
  ])('whatever a pos file hides that %s under Fluentd: nothing of it is certain', (_, changes, why) => {
    const later = [1_000, 60_000].map((at) => snapshot(at, [behind], changes));
    const { left, doubts } = known([snapshot(0, [behind], opened('a')), ...later]);
    expect(left).toEqual([]);
    expect(doubts[1]).toMatchObject({ kind: 'pos-file', about: POS, why: expect.stringMatching(why) });
    expect(doubts[1]?.bytes).toBe(changes.followed === undefined ? 30 : 130);
  });

  test('no pos file that a new worker has opened: it may be another one', () => {
    const fluentd = running({ workers: [{ pid: 6, startTime: '6' }] });
    const later = [1_000, 1_100].map((at) => snapshot(at, [behind], { ...opened('b'), fluentd }));
    const looks = [snapshot(0, [behind], opened('a')), ...later];
    for (const all of [looks, looks.map((look) => ({ ...look, fluentd: ABSENT }))])
      expect(known(all).left).toMatchObject([{ kind: 'unread' }]);
  });

  test('always the inside of Fluentd, with the number of read files and empty buffers', () => {
    const buffers = { ...onDisk(), unseen: ['b (its buffer is in memory)', 'c (nobody sees it)'] };
    const [first] = known(one([[other], behind], { buffers })).doubts;
    expect(first?.kind).toBe('no-witness');
    expect(first?.why).toMatch(/; 1 file read to the end, 1 buffer on disk empty, not seen: b \(.*\), c \(/);
    const [holding] = known(one([], { buffers: onDisk(1) })).doubts;
    expect(holding?.why).toMatch(/; 0 files read to the end, 0 buffers on disk empty$/);
    const [ofRun] = known(one([]), { role: 'parent' }).doubts;
    expect([holding?.why.includes('`posidle witness`'), ofRun?.why.includes('`posidle witness`')]).toEqual([
      true,
      false,
    ]);
  });

  test('how many files are read to the end: each inode once, and only those', () => {
    const files: readonly Watched[] = [
      [entry({ path: '/a', position: 5, inode: '1' }), { atPath: { inode: '1', size: 5 } }],
      [entry({ path: '/link', position: 5, inode: '1' }), { atPath: { inode: '1', size: 5 } }],
      [
        entry({ path: '/b', position: 5, inode: '2' }),
        { atPath: { inode: '2', size: 9 }, newlineLeft: false },
      ],
      [entry({ path: '/let-go', position: null, inode: '3' }), {}],
      [entry({ path: '/gone', position: 5, inode: '4' }), {}],
    ];
    const { doubts, files: count } = known(one(files));
    expect(doubts[0]?.why).toMatch(/; 1 file read to the end,/);
    expect(count).toBe(4);
    expect(doubts[1]).toMatchObject({ kind: 'nobody-saw-it-read', about: '/gone' });
  });
});

describe('lines may be on their way where nobody sees them', () => {
  const OVER = Number.NEGATIVE_INFINITY;
  const MULTILINE = tailRules({ multilineFlush: 20_000 });
  const ROTATE_WAIT = tailRules({ rotateWait: 30_000 });
  /** A pos file that was written so long before the first look at 10 s, and one look more. */
  const looks = (...changes: readonly Partial<Snapshot>[]) =>
    [{}, ...changes].map((change, index) => snapshot(10_000 + 10_000 * index, [[entry()]], change));
  const renamed = (...later: readonly Watched[][]) => [
    snapshot(0, [behind]),
    ...[[[next] as Watched], ...later].map((files, index) => snapshot(10_000 + 1_000 * index, files)),
  ];
  const cut = [snapshot(0, [behind]), snapshot(10_000, [sized(0)])];

  const worker = (pid: number) => [{ pid, startTime: '9' }];
  const found = (...changes: Parameters<typeof running>) => ({ fluentd: running(...changes) });
  const anotherOne = looks(found({ supervisor: { pid: 5, startTime: '9' } }));
  const renewed = looks(found({ workers: worker(5) }));
  const hidden = looks(found({ isStarting: undefined, workers: worker(5) }));
  const workerless = [snapshot(10_000, [[entry()]], found({ workers: [] }))];
  const wrapped = one([[entry()]], { fluentd: { ...WRAPPER, since: 7_000 } });

  test.each<[string, number, readonly Snapshot[], Partial<Policy>?]>([
    ['for the settle time, once everything is read', 12_000, looks({})],
    ['for no time of its own, while something is unread', OVER, one([behind], { fluentd: ABSENT })],
    ['for rotate_wait after a file has left its path, and a second more', 41_000, renamed(), ROTATE_WAIT],
    ['for rotate_wait from the first look without it on', 41_000, renamed([[next]], [[next]]), ROTATE_WAIT],
    ['for rotate_wait after a file was cut short', 41_000, cut, ROTATE_WAIT],
    ['for multiline_flush_interval after the last line', 31_000, looks({}), MULTILINE],
    ['for the settle time after a supervisor has taken the place of another one', 22_000, anotherOne],
    ['for the settle time after a worker has taken the place of one', 22_000, renewed],
    ['for ten seconds after a worker has begun whose open files may not be looked at', 30_000, hidden],
    ['for ten seconds after a child has begun, without a worker yet', 20_000, workerless, { role: 'parent' }],
    ['for the settle time beside another’s Fluentd that has no worker', 12_000, workerless],
    ['for ten seconds while a child shows no Fluentd', 17_000, wrapped],
    ['for the settle time where no Fluentd was seen', 2_000, one([[entry()]], { fluentd: ABSENT })],
  ])('%s', (_, until, snapshots, rules = {}) => {
    expect(known(snapshots, rules).busyUntil).toBe(until);
  });
});

test('the progress also has the start of the look, the version, the files and the outputs', () => {
  const file = (position: number) => [entry({ position })] as const;
  const first = snapshot(0, [file(90)], { buffers: onDisk(1) });
  const looks = [first, { ...snapshot(1_000, [file(100)], { buffers: onDisk(1) }), lookedAt: 900 }];
  expect(known(looks)).toMatchObject({ at: 900, files: 1, outputs: [{ output: 'out' }], unseen: [] });
  expect(known(one([], { buffers: IN_MEMORY }))).toMatchObject({ unseen: IN_MEMORY.unseen, outputs: [] });
  const version = (...more: readonly Snapshot[]) => known([first, ...more]).version;
  expect(version(snapshot(1_000, [file(90)], { buffers: onDisk(2, 3) }))).toBe(version());
  expect(version(snapshot(1_000, [file(91)]))).not.toBe(version());
});

describe('a file that left its path', () => {
  const at = (position: number, look: Watched[1] = {}): Watched => [entry({ position }), look];
  const doubted = (...files: readonly (Watched | undefined)[]) => {
    const looks = files.map((file, index) => snapshot(index * 1_000, file === undefined ? [] : [file]));
    return known(looks).doubts.flatMap(({ kind, bytes }) => (kind === 'closed-unread' ? [bytes] : []));
  };
  const taken = { atPath: { inode: '8', size: 0 } };

  test('is doubted for its unread bytes, until its own position shows that it was read', () => {
    expect(doubted(behind, at(100))).toEqual([30]);
    expect(doubted(behind, at(100), at(129))).toEqual([1]);
    expect(doubted(behind, at(100), at(130))).toEqual([]);
    expect(doubted(behind, at(100, taken), at(100, taken))).toEqual([30]);
    expect(doubted(at(0))).toEqual([]);
  });

  test('is doubted if its entry is gone, or if it was cut short', () => {
    expect(doubted(behind, undefined, undefined)).toEqual([30]);
    expect(doubted(behind, sized(0), sized(0))).toEqual([30]);
  });

  test('is doubted if in_tail let go of it, but no longer when it is back', () => {
    const letGo: Watched = [entry({ position: null }), { atPath: { inode: '7', size: 130 } }];
    expect(doubted(behind, letGo, letGo)).toEqual([30]);
    expect(doubted(behind, at(100), behind)).toEqual([]);
  });
});

test('a file whose entry is new, and that is away already, is waited for like any other', () => {
  const looks = [snapshot(0, []), snapshot(10_000, [removed])];
  for (const later of [[], [snapshot(15_000, [removed])]])
    expect(known([...looks, ...later]).busyUntil).toBe(16_000);
});

test('an old entry of a file that is long gone is waited for once', () => {
  const looks = [0, 1_000, 60_000].map((when) => snapshot(when, [removed]));
  expect(known(looks).busyUntil).toBe(6_000);
});
