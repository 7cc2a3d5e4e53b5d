import { describe, expect, test } from 'vitest';
import { isStillAtRest, observeOnce, observeOverdue } from '../../../src/core/look/observe.ts';
import type { PosFileReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import { entry, fileOf, POS, policy, reading, running, seen, snapshot } from '../../support/builders.ts';
import { alive } from '../../support/witnesses.ts';
import { EMPTY, MISSING, said, sized, tailRules, unfound, unreadable } from '../worlds.ts';

const SECOND = 1_000;
const at = (position: number | null) => entry({ position });
const other = (position = 100) => entry({ path: '/other', position });
const empty = (when: number): Snapshot => snapshot(when, [], EMPTY);
const missing = (when: number): Snapshot => snapshot(when, [], MISSING);
/** A look at a file that is read up to this position. */
const read = (when: number, position = 5): Snapshot => snapshot(when, [[at(position)]]);

describe('"everything read"', () => {
  const left = fileOf(at(5), 9);

  test('holds no longer when bytes are left, and begins anew', () => {
    const looks = [read(0), snapshot(SECOND, [[at(5), left], [other()]])];
    expect(seen(looks).readSince).toBeUndefined();
    expect(seen([...looks, snapshot(2_000, [[at(5)], [other()]])]).readSince).toBe(2_000);
  });

  test('begins anew with a movement', () => {
    expect(seen([read(0), read(SECOND, 6)]).readSince).toBe(SECOND);
  });

  test.each([
    ['is missing', read(0), missing(SECOND), false],
    ['is empty for one look', read(0), empty(SECOND), true],
    ['is unreadable', read(0), snapshot(SECOND, [], unreadable('EIO')), false],
    ['has fewer entries than before', snapshot(0, [[at(5)], sized(999, '/other')]), read(SECOND), false],
  ])('does not hold where a pos file %s', (_, before, look, isEmpty) => {
    const unknown = [{ about: POS, kind: isEmpty ? 'empty-pos-file' : 'pos-file' }];
    expect(seen([before, look])).toMatchObject({ readSince: undefined, unknown });
  });
});

test.each([
  ['an empty file that is to be found', unfound(0), SECOND],
  ['a file that is to be found and holds a line', unfound(3), undefined],
  ['one that holds only its newline', unfound(1), undefined],
  ['a file that is found', unfound(5, at(5).path, at(5).inode), SECOND],
])('"everything read" beside %s', (_, listed, readSince) => {
  expect(seen([snapshot(SECOND, [[at(5)]], listed)]).readSince).toBe(readSince);
});

test('Fluentd has started when there are pos files, and all of them exist', () => {
  const one = (posFiles: readonly PosFileReading[]) => seen([snapshot(0, [], { posFiles })]).started;
  const [away, there] = [missing(0).posFiles, empty(0).posFiles];
  expect([[], away, [...there, ...away], there].map(one)).toEqual([false, false, false, true]);
  expect(seen([empty(0), missing(SECOND)]).started).toBe(true);
});

test('Fluentd has read when an entry stands behind 0, whatever becomes of it', () => {
  expect(seen([snapshot(0, [[at(0), fileOf(at(0), 50)]])]).hasRead).toBe(false);
  expect(seen([read(0), empty(SECOND)]).hasRead).toBe(true);
});

test.each<[string, boolean, object]>([
  ['follows a file', true, {}],
  ['follows none', false, { files: [] }],
  ['has not started its inputs', false, { ready: false }],
  ['has not started them, and is in doubt', false, { ready: false, gap: 9 }],
  ['is in doubt otherwise', true, { gap: 9 }],
])('without a pos file Fluentd has read when a worker %s: %s', (_, hasRead, report) => {
  expect(seen([snapshot(0, [], { posFiles: [], ...said(alive(report)) })]).hasRead).toBe(hasRead);
});

describe('an empty pos file', () => {
  test('that had entries is believed after the settle time', () => {
    const looks = [read(0), empty(SECOND), empty(2_900)];
    expect(seen(looks).unknown).toHaveLength(1);
    expect(seen([...looks, empty(3_000)]).unknown).toEqual([]);
  });

  test('that never had any is believed after in_tail must have looked for files', () => {
    const rules = policy({ ...tailRules({ refreshInterval: 10_000 }), settle: 2_000 });
    expect(seen([empty(0), empty(11_900)], rules).unknown).toHaveLength(1);
    expect(seen([empty(0), empty(12_000)], rules).unknown).toEqual([]);
    expect(seen([empty(0)], policy({ settle: 0 })).unknown).toHaveLength(1);
    expect(seen([empty(0)]).hasRead).toBe(false);
  });
});

test('a single look says of the files what the first of several says', () => {
  const look = snapshot(0, [[at(5)], sized(300, '/behind'), [other(), {}]]);
  const { files, readSince, hasRead } = observeOnce(look, policy(), () => undefined);
  expect(seen([look])).toMatchObject({ files, readSince, hasRead });
});

test('a look that takes too long knows nothing, and names what it waits for', () => {
  const now = { at: 70_000, fluentd: running(), requests: [] };
  const late = (waitsFor: 'witness' | 'files') =>
    observeOverdue(seen([snapshot(0, [sized(300)])]), now, waitsFor, policy()).progress;
  expect(late('files')).toMatchObject({ left: [], doubts: [{ why: expect.stringMatching(/: there are/) }] });
  expect(late('witness').doubts).toMatchObject([{ why: expect.stringMatching(/witness does not answer$/) }]);
});

describe('at rest', () => {
  const old = entry({ position: 5 });
  const rest = snapshot(0, [[old]]);
  const { atRest } = seen([rest]);

  test('is a look that finds everything read', () => {
    expect(atRest).toMatchObject({ looks: rest.looks, followed: rest.followed, fluentd: rest.fluentd });
    expect(seen([snapshot(0, [[old, fileOf(old, 9)]])]).atRest).toBeUndefined();
  });

  test('continues if the next look finds the same objects', () => {
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
    const second = { path: '/pos/other', kind: 'read', replaced: [], unparsable: [], writtenAgo: 0 } as const;
    const both = () => ({ ...rest, posFiles: [...rest.posFiles, { ...second, entries: [] }] });
    const once = both();
    const { atRest: known } = seen([once]);
    expect([isStillAtRest(known, once), isStillAtRest(known, both())]).toEqual([true, false]);
  });

  test('still has new facts about the witness, the buffers, the requests and main', () => {
    const facts = {
      lookedAt: 900,
      ...said(alive()),
      buffers: undefined,
      requests: [{ by: 'http', at: 950 }],
    } as const;
    const changed = { ...rest, ...facts, mains: [{ pid: 1, startTime: '1' }] };
    const looks = [rest, { ...changed, at: 1_000 }, { ...changed, at: 2_000 }];
    const main = { seen: true };
    expect(seen(looks)).toMatchObject({ ...facts, at: 2_000, readSince: 0, progress: { files: 1 }, main });
  });
});
