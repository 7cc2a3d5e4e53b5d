import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import { NO_BUFFERS } from '../../../src/core/fluentd/buffers.ts';
import type { FollowedReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import { ofLooks } from '../../../src/core/observe/looks.ts';
import { observeLate } from '../../../src/core/observe/observe.ts';
import type { Doubt, Left, Progress } from '../../../src/core/progress/progress.ts';
import {
  ABSENT,
  chunkPath,
  entry,
  fileOf,
  IN_MEMORY,
  LOG,
  onDisk,
  POS,
  policy,
  reading,
  running,
  seen,
  snapshot,
  subject,
  type Watched,
  WRAPPER,
} from '../../support/builders.ts';

const behind: Watched = [entry(), fileOf(entry(), 130)];
const other = entry({ path: '/other', inode: '9' });
const unfinished: Watched = [entry(), { atPath: { inode: '7', size: 130 }, newlineLeft: false }];
const next = entry({ inode: '8', position: 3 });
const removed: Watched = [entry(), {}];

function followed(size: number, unknown?: string): Pick<Snapshot, 'followed'> {
  const files = [{ path: '/new', inode: '99', size }];
  const source: FollowedReading = { posFile: POS, refreshInterval: 60_000, byInode: false, files };
  return { followed: [unknown === undefined ? source : { ...source, unknown, files: [] }] };
}

function known(looks: readonly Snapshot[], rules: Partial<Policy> = {}): Progress {
  return ofLooks(seen(looks, policy(rules)), policy(rules));
}

const one = (files: readonly Watched[], changes: Partial<Snapshot> = {}) => [snapshot(0, files, changes)];

describe('what the looks from outside find left is', () => {
  test.each<[string, readonly Snapshot[], readonly Left[]]>([
    ['nothing of a file that is read', one([[entry()]]), []],
    ['a file with lines left', one([behind]), [{ kind: 'unread', path: LOG, bytes: 30 }]],
    ['a last line without its newline', one([unfinished]), [{ kind: 'unfinished', path: LOG, bytes: 30 }]],
    ['nothing of a file that cannot be looked at', one([[entry(), { error: 'EACCES' }]]), []],
    ['nothing of a file that is gone: nobody sees it', [...one([behind]), snapshot(1_000, [removed])], []],
    [
      'a file that in_tail has not found',
      one([], followed(1)),
      [{ kind: 'unfound', path: '/new', bytes: 1 }],
    ],
    ['no empty file that in_tail has not found', one([], followed(0)), []],
    [
      'chunks on disk, by their ids',
      one([], { buffers: onDisk(3, 4) }),
      [
        {
          kind: 'held',
          output: 'out',
          chunks: 2,
          bytes: 7,
          ids: ['0'.repeat(32), `${'0'.repeat(31)}1`],
          isRetrying: false,
        },
      ],
    ],
    ['no empty buffer', one([], { buffers: onDisk() }), []],
    ['no buffer in memory: nobody sees it', one([], { buffers: IN_MEMORY }), []],
    [
      'a chunk that Fluentd gave up',
      one([], { buffers: { ...NO_BUFFERS, givenUp: [{ path: chunkPath(1), size: 9 }] } }),
      [{ kind: 'given-up', path: chunkPath(1), bytes: 9 }],
    ],
  ])('%s', (_, looks, left) => {
    expect(known(looks).left).toEqual(left);
  });
});

describe('what nobody can prove is', () => {
  const restOf = (path: string, bytes: number): Doubt => ({
    kind: 'closed-unread',
    about: path,
    bytes,
    why: 'it left its path before its position showed that it was read',
  });
  test.each<[string, readonly Snapshot[], readonly Doubt[]]>([
    ['nothing more where all is read', one([[entry()]]), []],
    [
      'what a pos file says that is not there',
      one([], { posFiles: [{ path: POS, kind: 'missing' }] }),
      [{ kind: 'pos-file', about: POS, why: 'is not there' }],
    ],
    [
      'whether an empty pos file has no entry',
      one([], { posFiles: [{ path: POS, kind: 'empty' }] }),
      [{ kind: 'empty-pos-file', about: POS, why: 'is empty for now' }],
    ],
    [
      'which files a source has that cannot be listed',
      one([], followed(0, 'EACCES')),
      [{ kind: 'unlisted', why: `posidle cannot tell which files belong to ${POS}: EACCES` }],
    ],
    [
      'what is left of a file that cannot be looked at',
      one([[entry(), { error: 'EACCES' }]]),
      [{ kind: 'unseen', about: LOG, why: 'cannot be looked at by posidle' }],
    ],
    [
      'whether the rest of a file that was removed was read',
      [...one([behind]), snapshot(1_000, [removed])],
      [restOf(LOG, 30)],
    ],
    [
      'whether the rest of a file was read whose entry made way for another one',
      [...one([behind]), snapshot(1_000, [[next]])],
      [restOf(LOG, 30)],
    ],
  ])('%s', (_, looks, doubts) => {
    expect(known(looks).doubts.slice(1)).toEqual(doubts);
  });

  test('always the inside of Fluentd: what there is to be believed is counted', () => {
    const buffers = { ...onDisk(), unseen: ['b (its buffer is in memory)', 'c (nobody sees it)'] };
    const [first] = known(one([[other], behind], { buffers })).doubts;
    expect(first).toEqual({
      kind: 'no-witness',
      why:
        'nobody looked inside Fluentd (`posidle witness` shows how); 1 file read to the end, 1 buffer on disk empty, ' +
        'not seen: b (its buffer is in memory), c (nobody sees it)',
    });
    const [holding] = known(one([], { buffers: onDisk(1) })).doubts;
    expect(holding?.why).toMatch(/; 0 files read to the end, 0 buffers on disk empty$/);
  });

  test('everything, where a look is late: what was seen before may no longer hold', () => {
    const before = seen(one([behind], { buffers: onDisk(5) }));
    const late = observeLate(before, { at: 9_000, fluentd: ABSENT, requests: [] }, subject());
    expect(ofLooks(late, policy())).toMatchObject({
      at: 9_000,
      left: [],
      doubts: [{ kind: 'not-looked-at' }],
    });
  });
});

describe('lines may be on their way where nobody sees them', () => {
  const OVER = Number.NEGATIVE_INFINITY;
  const tail = (changes: Partial<Policy['tail']>) => ({ tail: { ...DEFAULT_TAIL, ...changes } });
  /** A pos file that was written so long before the first look at 10 s, and one look more. */
  const looks = (...changes: readonly Partial<Snapshot>[]) =>
    [{}, ...changes].map((change, index) => snapshot(10_000 + 10_000 * index, [[entry()]], change));
  const renamed = (...later: readonly Watched[][]) => [
    snapshot(0, [behind]),
    ...[[[next] as Watched], ...later].map((files, index) => snapshot(10_000 + 1_000 * index, files)),
  ];

  test.each<[string, readonly Snapshot[], Partial<Policy>, number]>([
    ['for the settle time, once everything is read', looks({}), {}, 12_000],
    ['for no time of its own, while something is unread', one([behind], { fluentd: ABSENT }), {}, OVER],
    [
      'for rotate_wait after a file has left its path, and a second more',
      renamed(),
      tail({ rotateWait: 30_000 }),
      41_000,
    ],
    [
      'for rotate_wait from the first look that did not find it, whatever comes later',
      renamed([[next]], [[next]]),
      tail({ rotateWait: 30_000 }),
      41_000,
    ],
    [
      'for rotate_wait after a file is gone that was to be found',
      [...one([], followed(5)), snapshot(10_000, [])],
      {},
      16_000,
    ],
    [
      'for the settle time after such a file was cut short',
      [...one([], followed(5)), snapshot(10_000, [], followed(0))],
      {},
      12_000,
    ],
    [
      'below a limit for twice as long as the rest of such a file takes',
      renamed(),
      tail({ readLimit: 10 }),
      16_000 + 6_000,
    ],
    ['below a <group> for a minute more', renamed(), tail({ readLimit: 0 }), 16_000 + 60_000],
    [
      'for multiline_flush_interval after the last line of a record of several lines',
      looks({}),
      tail({ multilineFlush: 20_000 }),
      31_000,
    ],
    [
      'for the settle time after a supervisor has taken the place of another one',
      looks({ fluentd: running({ supervisor: { pid: 5, startTime: '9' } }) }),
      {},
      22_000,
    ],
    [
      'for the settle time after a worker has taken the place of another one',
      looks({ fluentd: running({ workers: [{ pid: 5, startTime: '9' }] }) }),
      {},
      22_000,
    ],
    [
      'for ten seconds after a worker has begun whose open files may not be looked at',
      looks({ fluentd: running({ isStarting: undefined, workers: [{ pid: 5, startTime: '9' }] }) }),
      {},
      30_000,
    ],
    [
      'for ten seconds after a child was started that has no worker yet',
      [snapshot(10_000, [[entry()]], { fluentd: running({ workers: [] }) })],
      { role: 'parent' },
      20_000,
    ],
    [
      'for the settle time beside a Fluentd that is not posidle’s child and has no worker',
      [snapshot(10_000, [[entry()]], { fluentd: running({ workers: [] }) })],
      {},
      12_000,
    ],
    [
      'for ten seconds while a child shows no Fluentd',
      [snapshot(0, [[entry()]], { fluentd: { ...WRAPPER, since: 7_000 } })],
      {},
      17_000,
    ],
    ['for the settle time where no Fluentd was seen', one([[entry()]], { fluentd: ABSENT }), {}, 2_000],
  ])('%s', (_, snapshots, rules, until) => {
    expect(known(snapshots, rules).until).toBe(until);
  });
});

test('the facts beside it: when the look began, what moves the mark, and what there is', () => {
  const file = (position: number) => [entry({ position })] as const;
  const first = snapshot(0, [file(90)], { buffers: onDisk(1) });
  const looks = [first, { ...snapshot(1_000, [file(100)], { buffers: onDisk(1) }), lookedAt: 900 }];
  expect(known(looks)).toMatchObject({ at: 900, files: 1, outputs: ['out'], unseen: [] });
  expect(known(one([], { buffers: IN_MEMORY }))).toMatchObject({ unseen: IN_MEMORY.unseen, outputs: [] });
  const mark = (...more: readonly Snapshot[]) => known([first, ...more]).mark;
  expect(mark(snapshot(1_000, [file(90)], { buffers: onDisk(2, 3) }))).toBe(mark());
  expect(mark(snapshot(1_000, [file(91)]))).not.toBe(mark());
});

describe('a file that left its path', () => {
  const at = (position: number, look: Watched[1] = {}): Watched => [entry({ position }), look];
  const away = (size: number) => ({ renamed: { path: `${LOG}.1`, stat: { inode: '7', size } } });
  const doubted = (...files: readonly Watched[]) => {
    const looks = files.map((file, index) => snapshot(index * 1_000, [file]));
    return known(looks).doubts.flatMap(({ kind, bytes }) => (kind === 'closed-unread' ? [bytes] : []));
  };
  const here = at(100, fileOf(entry(), 130));

  test('is doubted for what is left of it, until its own position shows that it was read', () => {
    expect(doubted(here, at(100, away(130)))).toEqual([30]);
    expect(doubted(here, at(100, away(130)), at(129, away(130)))).toEqual([1]);
    expect(doubted(here, at(100, away(130)), at(130, away(130)))).toEqual([]);
    expect(doubted(here, at(100), at(130))).toEqual([]);
    expect(doubted(at(0))).toEqual([]);
  });

  test('is doubted for what is written to it afterwards', () => {
    const read = at(100, fileOf(entry()));
    expect(doubted(read, at(100, away(130)))).toEqual([30]);
    expect(doubted(read, at(100, away(100)), at(100, away(130)))).toEqual([30]);
  });

  test('is doubted also where another file took its path, and where it is found no more', () => {
    const taken = { atPath: { inode: '8', size: 0 } };
    expect(doubted(here, at(100, { ...taken, ...away(130) }))).toEqual([30]);
    expect(doubted(here, at(100, taken))).toEqual([30]);
    expect(doubted(here, at(100, taken), at(100, taken))).toEqual([30]);
  });

  test('is doubted where in_tail let go of it, at its path or not', () => {
    const letGo: Watched = [entry({ position: null }), { atPath: { inode: '7', size: 130 } }];
    expect(doubted(here, letGo, letGo)).toEqual([30]);
  });

  test('is not doubted any more when it is back', () => {
    expect(doubted(here, at(100, away(130)), here)).toEqual([]);
  });
});

test('a file whose entry is new, and that is away already, is waited for like any other', () => {
  const away = { renamed: { path: `${LOG}.1`, stat: { inode: '7', size: 100 } } };
  const looks = [snapshot(0, []), snapshot(10_000, [[entry(), away]])];
  expect(known(looks).until).toBe(16_000);
  const again = [...looks, snapshot(15_000, [[entry(), away]])];
  expect(known(again).until).toBe(16_000);
});

test('an old entry of a file that is long gone is waited for once', () => {
  const gone = { posFiles: [reading([removed])], looks: new Map() };
  const looks = [0, 1_000, 60_000].map((when) => snapshot(when, [], gone));
  expect(known(looks).until).toBe(6_000);
});
