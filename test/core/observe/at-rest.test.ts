import { describe, expect, test } from 'vitest';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { isStillAtRest } from '../../../src/core/observe/at-rest.ts';
import { entryKeyIn } from '../../../src/core/pos-file/pos-file.ts';
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
const old = entry({ position: 5 });
const next = entry({ position: 3, inode: '8' });
const away = (size: number) => ({ renamed: { path: `${LOG}.1`, stat: { inode: '7', size } } });
const begun = entry({ position: 0 });
const unfinished = { ...fileOf(begun, 3), newlineLeft: false };
const OTHER = '/var/log/other.log';
const unfound = {
  followed: [
    { posFile: POS, refreshInterval: 0, byInode: false, files: [{ path: OTHER, inode: '9', size: 9 }] },
  ],
};
const rotated = [snapshot(0, [[old]]), snapshot(SECOND, [[next]])];

/** The last two looks find the very same objects, but for what `changes` says. */
const lookAgain = (looks: readonly Snapshot[], changes: Partial<Snapshot>): readonly Snapshot[] => {
  const last = looks.at(-1) as Snapshot;
  return [...looks, { ...last, at: last.at + 60 * SECOND, depth: 'rest', ...changes }];
};

describe('a look that finds the same files as the one before tells', () => {
  const goneAt = (size: number) => ({
    gone: new Map([[entryKeyIn(POS, old), { size, isOpen: undefined }]]),
  });

  test('what was written late to a file that went away from its path', () => {
    const closed = [...rotated, { ...snapshot(20 * SECOND, [[next]]), ...goneAt(5) }];
    expect(closed.map((_, index) => seen(closed.slice(0, index + 1)).readSince)).not.toContain(undefined);
    const looks = lookAgain(closed, goneAt(9));
    expect([...seen(looks).memory.abandoned.values()]).toEqual([{ path: LOG, bytes: 4 }]);
  });

  test('what was written to a file that was renamed before the first look', () => {
    const looks = [snapshot(0, [[old, away(5)]]), snapshot(SECOND, [[old, away(9)]])];
    expect(seen(looks).readSince).toBeDefined();
    expect(seen(lookAgain(looks, {})).readSince).toBeUndefined();
  });

  test('that Fluentd may read what it could not, and has still to read it', () => {
    const rules = policy({ tail: { ...DEFAULT_TAIL, refreshInterval: 0 } });
    const looks = [snapshot(0, [[next]], { ...unfound, closed: new Set([OTHER]) })];
    expect(seen(looks, rules).readSince).toBeDefined();
    expect(seen(lookAgain(looks, { closed: new Set() }), rules).readSince).toBeUndefined();
  });

  test('that Fluentd may not read a file which it has not begun, and of which an unfinished line is left', () => {
    const closed = { closed: new Set([LOG]) };
    const looks = lookAgain(lookAgain([snapshot(0, [[begun, unfinished]])], closed), closed);
    const rules = policy({ tail: { ...DEFAULT_TAIL, refreshInterval: 0 } });
    expect(seen(looks, rules).files).toMatchObject([{ state: 'unreadable' }]);
  });
});

describe('at rest', () => {
  const rest = snapshot(0, [[old]]);
  const { atRest } = seen([rest]);

  test('is a look at which everything is read and Fluentd runs, and nothing else', () => {
    expect(atRest).toMatchObject({ looks: rest.looks, followed: rest.followed, fluentd: rest.fluentd });
    expect(seen([snapshot(0, [[old, fileOf(old, 9)]])]).atRest).toBeUndefined();
    expect(seen([snapshot(0, [[old]], { fluentd: ABSENT })]).atRest).toBeUndefined();
    expect(seen([snapshot(0, [[old]]), snapshot(SECOND, [[old, {}]])]).atRest).toBeUndefined();
    expect(seen([snapshot(0, [[old]], { closed: new Set([OTHER]) })]).atRest).toBeUndefined();
  });

  test('is none beside a file that went away, also where Fluentd may not read another one', () => {
    const beside = (closed: readonly string[]) =>
      seen([rest, snapshot(SECOND, [[next]], { closed: new Set(closed) })]);
    expect([[], [OTHER]].map((closed) => beside(closed).atRest)).toEqual([undefined, undefined]);
  });

  test('is none beside a file that was renamed before the first look', () => {
    expect(
      seen([snapshot(0, [[old, away(5)], [entry({ path: OTHER, inode: '9' })]])]).atRest,
    ).toBeUndefined();
  });

  test('ends with other entries in one of two pos files', () => {
    const second = { path: '/pos/other', kind: 'read', unparsable: [], writtenAgo: 0 } as const;
    const both = { ...rest, posFiles: [...rest.posFiles, { ...second, entries: [] }] };
    const { atRest } = seen([both]);
    expect(isStillAtRest(atRest, both)).toBe(true);
    const other = { ...both, posFiles: [...rest.posFiles, { ...second, entries: [] }] };
    expect(isStillAtRest(atRest, other)).toBe(false);
  });

  test('is not the look in which a worker was replaced', () => {
    const other = { fluentd: running({ workers: [{ pid: 9, startTime: '9' }] }) };
    expect(seen([rest, snapshot(SECOND, [[old]], other)]).atRest).toBeUndefined();
    expect(seen([rest, ...[1, 2].map((at) => snapshot(at * SECOND, [[old]], other))]).atRest).toBeDefined();
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
    ['files that Fluentd may not read', { closed: new Set([OTHER]) }],
  ])('ends with other %s', (_, changes) => {
    expect(isStillAtRest(atRest, { ...rest, ...changes })).toBe(false);
  });
});
