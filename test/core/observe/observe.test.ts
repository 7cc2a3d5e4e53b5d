import { describe, expect, test } from 'vitest';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import type { PosFileReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import { isStillAtRest, observeLate } from '../../../src/core/observe/observe.ts';
import {
  ABSENT,
  entry,
  fileOf,
  POS,
  policy,
  reading,
  running,
  seen,
  snapshot,
  subject,
  WRAPPER,
} from '../../support/builders.ts';
import { alive } from '../../support/witnesses.ts';

const SECOND = 1_000;
const at = (position: number | null) => entry({ position });
const empty: readonly PosFileReading[] = [{ path: POS, kind: 'empty' }];
const missing: readonly PosFileReading[] = [{ path: POS, kind: 'missing' }];
const without = (when: number, posFiles: readonly PosFileReading[]): Snapshot =>
  snapshot(when, [], { posFiles });

describe('"everything read"', () => {
  const left = fileOf(at(5), 9);

  test('holds since the first look that found it', () => {
    const looks = [snapshot(0, [[at(5), left]]), snapshot(SECOND, [[at(5)]]), snapshot(2_000, [[at(5)]])];
    expect(seen(looks).readSince).toBe(SECOND);
  });

  test('holds no longer when bytes are left, and begins anew', () => {
    const other = [entry({ path: '/other' })] as const;
    const looks = [snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(5), left], other])];
    expect(seen(looks).readSince).toBeUndefined();
    expect(seen([...looks, snapshot(2_000, [[at(5)], other])]).readSince).toBe(2_000);
  });

  test('does not hold where one of two files has bytes left', () => {
    expect(seen([snapshot(0, [[at(5)], [entry({ path: '/other' }), left]])]).readSince).toBeUndefined();
  });

  test('begins anew with a movement', () => {
    expect(seen([snapshot(0, [[at(5)]]), snapshot(SECOND, [[at(6)]])]).readSince).toBe(SECOND);
  });

  test.each([
    ['missing', missing],
    ['empty for one look', empty],
    ['unreadable', [{ path: POS, kind: 'unreadable', error: 'EIO' }]],
  ] as const)('does not hold where a pos file is %s', (_, posFiles) => {
    const isEmpty = posFiles === empty;
    expect(seen([snapshot(0, [[at(5)]]), without(SECOND, posFiles)])).toMatchObject({
      readSince: undefined,
      unknown: [{ path: POS, empty: isEmpty }],
    });
  });

  test('does not hold where a pos file has fewer entries than before', () => {
    const other = entry({ path: '/other' });
    const looks = [snapshot(0, [[at(5)], [other, fileOf(other, 999)]]), snapshot(SECOND, [[at(5)]])];
    expect(seen(looks)).toMatchObject({ readSince: undefined, unknown: [{ path: POS, empty: false }] });
    expect(seen(looks.slice(1)).unknown).toEqual([]);
  });
});

test.each([
  ['an empty file that is to be found', 0, SECOND],
  ['a file that is to be found and holds a line', 3, undefined],
  ['one that holds only its newline', 1, undefined],
  ['a file that is found', 5, SECOND, at(5)],
])(
  '"everything read" beside %s',
  (_, size, readSince, { path, inode } = entry({ path: '/new', inode: '8' })) => {
    const files = [{ path, inode, size }];
    const followed = [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }];
    expect(seen([snapshot(SECOND, [[at(5)]], { followed })]).readSince).toBe(readSince);
  },
);

test('Fluentd has started when there are pos files, and all of them exist', () => {
  expect(seen([without(0, [])]).started).toBe(false);
  expect(seen([without(0, missing)]).started).toBe(false);
  expect(seen([without(0, [...empty, ...missing])]).started).toBe(false);
  expect(seen([without(0, empty)]).started).toBe(true);
});

describe('logged', () => {
  test('is nothing while every entry stands at 0', () => {
    expect(seen([snapshot(0, [[at(0), fileOf(at(0), 50)]])]).logged).toBe(false);
  });

  test('stays true, whatever becomes of the entry', () => {
    expect(seen([snapshot(0, [[at(5)]]), without(SECOND, empty)]).logged).toBe(true);
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

test('the last movement is the latest of all, and stays while nothing moves', () => {
  const other = (position: number) => entry({ path: '/other', inode: '8', position });
  const looks = [
    snapshot(0, [[at(5)], [other(5)]]),
    snapshot(SECOND, [[at(6)], [other(5)]]),
    snapshot(2 * SECOND, [[at(6)], [other(6)]]),
    snapshot(3 * SECOND, [[at(6)], [other(6)]]),
  ];
  expect(looks.map((_, index) => seen(looks.slice(0, index + 1)).movedAt)).toEqual([
    0,
    SECOND,
    2 * SECOND,
    2 * SECOND,
  ]);
});

test('a look at rest does not take in everything, and takes its buffers and calls anew', () => {
  const first = snapshot(0, [[at(5)]]);
  const calls = [{ by: 'http', at: SECOND }] as const;
  const rest = { ...first, at: SECOND, depth: 'rest', buffers: undefined, requests: calls } as const;
  expect(seen([first, rest])).toMatchObject({
    at: SECOND,
    extent: 'rest',
    buffers: undefined,
    requests: calls,
  });
  expect(seen([first, { ...first, at: SECOND }]).extent).toBe('all');
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
    expect(seen([without(0, empty)], policy({ settle: 0 })).unknown).toHaveLength(1);
  });

  test('says that Fluentd has started, and not that it has read', () => {
    expect(seen([without(0, empty)])).toMatchObject({ started: true, logged: false });
    expect(seen([without(0, missing)])).toMatchObject({ started: false, logged: false });
  });
});

test('a pos file that has no entry yet has lost none', () => {
  expect(seen([snapshot(0, [])]).unknown).toEqual([]);
});

describe('a look that takes too long', () => {
  const now = (at: number) => ({ at, fluentd: running(), requests: [] });
  const testimony = { at: 0, witnesses: [alive()] };
  const behind = seen([snapshot(0, [[at(5), fileOf(at(5), 300)]], { testimony })]);
  const late = observeLate(behind, now(70_000), subject());

  test('leaves what was seen before as all that is known', () => {
    expect(late).toMatchObject({ at: 70_000, files: behind.files, extent: 'late', lookedAt: 70_000 });
    expect(late.readSince).toBeUndefined();
    expect([behind.witness, late.witness]).toEqual([expect.anything(), undefined]);
  });

  test('leaves the pos file unknown, and names it', () => {
    const why = expect.stringMatching(/^was not looked at in time/);
    expect(late.unknown).toEqual([{ path: POS, why, empty: false }]);
    expect(observeLate(behind, now(0), { posFiles: [] }).unknown).toMatchObject([{ path: 'the pos file' }]);
  });
});

describe('at rest', () => {
  const old = entry({ position: 5 });
  const rest = snapshot(0, [[old]]);
  const { atRest } = seen([rest]);

  test('is a look at which everything is read, and that shows plainly whether Fluentd runs', () => {
    expect(atRest).toMatchObject({ looks: rest.looks, followed: rest.followed, fluentd: rest.fluentd });
    expect(seen([snapshot(0, [[old, fileOf(old, 9)]])]).atRest).toBeUndefined();
    expect(seen([snapshot(0, [[old]], { fluentd: ABSENT })]).atRest).toBeDefined();
    expect(seen([snapshot(0, [[old]], { fluentd: WRAPPER })]).atRest).toBeUndefined();
  });

  test('stays where the next look finds the very same objects', () => {
    expect(isStillAtRest(atRest, rest)).toBe(true);
    expect(isStillAtRest(undefined, rest)).toBe(false);
  });

  test.each<[string, Partial<Snapshot>]>([
    ['entries', { posFiles: [reading([[{ ...old }]])] }],
    ['pos files', { posFiles: [...rest.posFiles, { path: '/pos/other', kind: 'missing' }] }],
    ['looks', { looks: new Map(rest.looks) }],
    ['followed files', { followed: [] }],
    ['processes', { fluentd: running() }],
  ])('ends with other %s', (_, changes) => {
    expect(isStillAtRest(atRest, { ...rest, ...changes })).toBe(false);
  });

  test('ends with other entries in one of two pos files', () => {
    const second = { path: '/pos/other', kind: 'read', unparsable: [], writtenAgo: 0 } as const;
    const both = { ...rest, posFiles: [...rest.posFiles, { ...second, entries: [] }] };
    const { atRest: known } = seen([both]);
    expect(isStillAtRest(known, both)).toBe(true);
    expect(isStillAtRest(known, { ...both, posFiles: [...rest.posFiles, { ...second, entries: [] }] })).toBe(
      false,
    );
  });

  test('the witness, the buffers, the calls and main tell anew', () => {
    const changes: Partial<Snapshot> = {
      lookedAt: 900,
      at: 1_000,
      testimony: { at: 900, witnesses: [alive()] },
      buffers: undefined,
      requests: [{ by: 'http', at: 950 }],
      mains: [{ pid: 1, startTime: '1' }],
    };
    const looks = [rest, { ...rest, ...changes }, { ...rest, ...changes, at: 2_000 }];
    expect(seen(looks)).toMatchObject({
      lookedAt: 900,
      at: 2_000,
      readSince: 0,
      witness: { testimony: changes.testimony, progress: { files: 1 } },
      buffers: undefined,
      requests: changes.requests,
      memory: { main: { seen: true } },
    });
  });
});
