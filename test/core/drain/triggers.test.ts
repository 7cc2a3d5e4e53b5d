import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { begin, type State } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { Observation } from '../../../src/core/observe/observation.ts';
import {
  ABSENT,
  draining,
  entry,
  fileOf,
  policy,
  seen,
  snapshot,
  type Watched,
} from '../../support/builders.ts';
import { alive } from '../../support/witnesses.ts';

const AT = 9_000;
const WATCHING = { name: 'watching', since: 0 } as const;
const behind: readonly Watched[] = [[entry(), fileOf(entry(), 300)]];
const read: readonly Watched[] = [[entry()]];

function looks(files: readonly Watched[], at: number, changes: Partial<Snapshot> = {}): Observation {
  return seen([snapshot(0, files), snapshot(at, files, changes)]);
}

function decided(state: State, what: Observation, rules: Partial<Policy> = {}) {
  return step(state, what, policy(rules));
}

describe('quiet', () => {
  const { witness } = looks(behind, 4_000, { testimony: { at: 4_000, witnesses: [alive()] } });
  const witnessed = { source: 'witness', witness } as const;
  const unknown = [{ path: '/pos', why: 'is away', empty: false }];
  const silent = (at: number, changes: Partial<Observation> = {}, files = read) =>
    decided(WATCHING, { ...looks(files, at), ...changes }, { quiet: 4_000, startTimeout: 20_000 });

  test.each<[string, ReturnType<typeof silent>, State['name']]>([
    ['is a trigger once its window is over', silent(4_000), 'draining'],
    ['is none before', silent(3_999), 'watching'],
    ['is none within its window after a movement', silent(8_000, { movedAt: 4_001 }), 'watching'],
    ['is none while a pos file is unknown', silent(19_999, { unknown }), 'watching'],
    ['counts after the start timeout all the same', silent(20_000, { unknown }), 'draining'],
    ['is none while bytes are left', silent(60_000, {}, behind), 'watching'],
    ['is one beside bytes that were read, as a witness says', silent(4_000, witnessed, behind), 'draining'],
    ['is one beside bytes that nobody will read', silent(4_000, { goneSince: 1 }, behind), 'draining'],
    [
      'is one beside a file that cannot be looked at',
      silent(4_000, {}, [[entry(), { error: 'EIO' }]]),
      'draining',
    ],
  ])('%s', (_, { state }, name) => {
    expect(state.name).toBe(name);
  });

  test('asks a witness about bytes that are left, once its window is over', () => {
    const source = 'witness';
    expect(silent(4_000, { source }, behind).depth).toBe('all');
    expect(silent(3_999, { source }, behind).depth).toBe('rest');
    expect(silent(4_000, {}, behind).depth).toBe('rest');
  });

  test('says how long nothing has moved, and is dated by the look', () => {
    expect(silent(5_000)).toMatchObject({
      state: { name: 'draining', since: 5_000, trigger: { by: 'quiet', at: 5_000 }, owed: undefined },
      moved: 'nothing has moved for 5.0 s',
      actions: [],
    });
  });
});

describe('a trigger that does not guess', () => {
  const requests = [
    { by: 'http', at: 8_000 },
    { by: 'SIGTERM', at: 8_500 },
  ] as const;
  const withMain = (what: Observation, goneSince: number | undefined, isSeen = true): Observation => ({
    ...what,
    memory: { ...what.memory, main: { sightings: new Map(), seen: isSeen, goneSince } },
  });
  const rules = { doneProcess: true, quiet: 'off', startTimeout: 60_000 } as const;

  test('is the first call', () => {
    expect(decided(WATCHING, looks(read, AT, { requests })).state).toMatchObject({ trigger: requests[0] });
  });

  test('is the end of main, once it has been gone for long enough', () => {
    const over = decided(WATCHING, withMain(looks(read, AT), 7_000), rules);
    expect(over).toMatchObject({
      state: { trigger: { by: 'done-process', at: AT } },
      moved: expect.stringMatching(/is gone/),
    });
    expect(decided(WATCHING, withMain(looks(read, AT), 7_001), rules)).toMatchObject({
      state: WATCHING,
      wakeAt: 9_001,
    });
    expect(decided(WATCHING, withMain(looks(read, AT), 1), { quiet: 'off' }).state).toEqual(WATCHING);
  });

  test('is a main that was never seen within the start timeout', () => {
    const never = decided(WATCHING, withMain(looks(read, 60_000), undefined, false), rules);
    expect(never.moved).toMatch(/never seen within `startTimeout` \(60 s\)/);
    expect(decided(WATCHING, withMain(looks(read, 59_999), undefined, false), rules).state).toEqual(WATCHING);
  });

  test('is taken back only where main runs again, and nothing else calls', () => {
    const gone = draining({ trigger: { by: 'done-process', at: 5_000 } });
    const back = withMain(looks(behind, AT), undefined);
    expect(decided(gone, back, rules)).toMatchObject({
      state: { name: 'watching' },
      moved: "main's process runs again",
    });
    expect(decided(gone, withMain(looks(behind, AT), 3_000), rules).state.name).toBe('draining');
    expect(decided(draining(), back, rules).state.name).toBe('draining');
    const never = withMain(looks(behind, AT), undefined, false);
    expect(decided(gone, never, rules).state.name).toBe('draining');
    expect(decided(gone, withMain(looks(behind, AT, { requests }), undefined), rules).state.name).toBe(
      'draining',
    );
  });
});

describe('before anything is read', () => {
  const silent = (at: number, changes: Partial<Observation> = {}, rules: Partial<Policy> = {}) =>
    decided(begin(0), { ...looks([], at), ...changes }, { startTimeout: 600_000, quiet: 60_000, ...rules });

  test.each<[string, ReturnType<typeof silent>, State['name'], number | undefined]>([
    ['Fluentd is waited for', silent(599_999), 'waiting', 600_000],
    ['the start timeout is a trigger, where silence is one', silent(600_000), 'draining', undefined],
    [
      'the start timeout is none, where another trigger has to come',
      silent(600_000, {}, { quiet: 'off' }),
      'waiting',
      undefined,
    ],
    ['one entry that moved begins the watch', silent(1, { logged: true }), 'watching', undefined],
    [
      'one pos file that is not there holds it up',
      silent(1, { logged: true, started: false }),
      'waiting',
      600_000,
    ],
  ])('%s', (_, { state, wakeAt }, name, due) => {
    expect([state.name, wakeAt]).toEqual([name, due]);
  });

  test('the reason says whether nothing was logged, or a pos file is missing', () => {
    expect(silent(600_000).moved).toBe('nothing was ever logged within `startTimeout` (10 min)');
    expect(silent(600_000, { logged: true, started: false }).moved).toMatch(/^not every pos file was there/);
  });

  test('a Fluentd that comes long after the call gets the whole time to drain', () => {
    const requests = [{ by: 'done-file', at: 0 }] as const;
    const late = seen([snapshot(0, [], { fluentd: ABSENT }), snapshot(400_000, read, { requests })]);
    expect(decided(begin(0), late).state).toMatchObject({
      name: 'draining',
      trigger: { by: 'done-file', at: 400_000 },
    });
  });
});
