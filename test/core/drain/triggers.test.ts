import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { begin, type State } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import { mayMainRun } from '../../../src/core/drain/trigger.ts';
import type { Observation } from '../../../src/core/look/observation.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { Progress } from '../../../src/core/progress/progress.ts';
import {
  ABSENT,
  draining,
  entry,
  policy,
  REMOTE,
  seen,
  snapshot,
  type Watched,
} from '../../support/builders.ts';
import { alive } from '../../support/witnesses.ts';
import { said, sized } from '../worlds.ts';

const AT = 9_000;
const WATCHING = { name: 'watching', since: 0 } as const;
const behind: readonly Watched[] = [sized(300)];
const read: readonly Watched[] = [[entry()]];

function looks(files: readonly Watched[], at: number, changes: Partial<Snapshot> = {}): Observation {
  return seen([snapshot(0, files), snapshot(at, files, changes)]);
}

function decided(state: State, what: Observation, rules: Partial<Policy> = {}) {
  return step(state, what, policy(rules));
}

describe('quiet', () => {
  const witnessed = { progress: looks(behind, 4_000, said(alive())).progress };
  const unseen: Watched = [entry(), { error: 'EIO' }];
  const changed = (changes: Partial<Progress>) => ({ progress: { ...looks(read, 0).progress, ...changes } });
  const unknown = changed({ doubts: [{ kind: 'pos-file', about: '/pos', why: 'is away' }] });
  const hiding = changed({ doubts: [{ kind: 'pos-file', about: '/pos', bytes: 1, why: 'is away' }] });
  const silent = (at: number, changes: Partial<Observation> = {}, files = read) =>
    decided(WATCHING, { ...looks(files, at), ...changes }, { quiet: 4_000, startTimeout: 20_000 });

  test.each<[string, ReturnType<typeof silent>, State['name']]>([
    ['is a trigger once its window is over', silent(4_000), 'draining'],
    ['is none before', silent(3_999), 'watching'],
    ['is none within its window after a movement', silent(8_000, changed({ movedAt: 4_001 })), 'watching'],
    ['is none while a pos file is unknown', silent(19_999, unknown), 'watching'],
    ['counts after the start timeout all the same', silent(20_000, unknown), 'draining'],
    ['is none while bytes are left', silent(60_000, {}, behind), 'watching'],
    ['is none while a pos file may hide unread bytes', silent(60_000, hiding), 'watching'],
    ['is one beside bytes that were read, as a witness says', silent(4_000, witnessed, behind), 'draining'],
    ['is one beside bytes that nobody will read', silent(4_000, { goneSince: 1 }, behind), 'draining'],
    ['is one beside a file that cannot be looked at', silent(4_000, {}, [unseen]), 'draining'],
  ])('%s', (_, { state }, name) => {
    expect(state.name).toBe(name);
  });

  test('asks a witness about unread bytes when its window is over', () => {
    const source = 'witness';
    expect(silent(4_000, { source }, behind).depth).toBe('all');
    expect(silent(3_999, { source }, behind).depth).toBe('light');
    expect(silent(4_000, {}, behind).depth).toBe('light');
  });

  test('says how long nothing has moved, and begins at the look', () => {
    expect(silent(5_000)).toMatchObject({
      state: { name: 'draining', since: 5_000, trigger: { by: 'quiet', at: 5_000 }, pending: undefined },
      whyChanged: 'nothing has moved for 5.0 s',
      actions: [],
    });
  });
});

describe('a trigger that does not guess', () => {
  const requests = [
    { by: 'http', at: 8_000 },
    { by: 'SIGTERM', at: 8_500 },
  ] as const;
  const rules = { doneProcess: true, quiet: 'off', startTimeout: 60_000 } as const;
  /** Main has been gone since then. */
  const gone = (goneSince: number | undefined, what = looks(read, AT), isSeen = true): Observation => ({
    ...what,
    main: { sightings: new Map(), seen: isSeen, goneSince, longestGap: undefined },
  });

  test('is the first call', () => {
    expect(decided(WATCHING, looks(read, AT, { requests })).state).toMatchObject({ trigger: requests[0] });
  });

  test('is the end of main, once it has been gone for long enough', () => {
    const { state, whyChanged } = decided(WATCHING, gone(7_000), rules);
    expect(state).toMatchObject({ trigger: { by: 'done-process', at: AT } });
    expect(whyChanged).toMatch(/is gone/);
    expect(decided(WATCHING, gone(7_001), rules)).toMatchObject({ state: WATCHING, wakeAt: 9_001 });
    expect(decided(WATCHING, gone(1), { quiet: 'off' }).state).toEqual(WATCHING);
  });

  test('is a main that was never seen within the start timeout', () => {
    const never = (at: number) => decided(WATCHING, gone(undefined, looks(read, at), false), rules);
    expect(never(60_000).whyChanged).toMatch(/never seen within --start-timeout \(60 s\)/);
    expect(never(59_999).state).toEqual(WATCHING);
  });

  test('says nothing of a main that came back after as long a time', () => {
    const known = policy({ ...rules, doneProcessGone: 2_000 });
    const mayRun = (longestGap: number | undefined) => {
      const what = gone(1_000);
      return mayMainRun(
        { by: 'done-process', at: AT },
        { ...what, main: { ...what.main, longestGap } },
        known,
      );
    };
    expect([undefined, 1_999, 2_000].map(mayRun)).toEqual([false, false, true]);
  });

  test('is taken back only where main runs again, and nothing else calls', () => {
    const byMain = draining({ trigger: { by: 'done-process', at: 5_000 } });
    const left = looks(behind, AT);
    const back = decided(byMain, gone(undefined, left), rules);
    expect([back.state.name, back.whyChanged]).toEqual(['watching', 'main runs again']);
    for (const [state, what] of [
      [byMain, gone(3_000, left)],
      [draining(), gone(undefined, left)],
      [byMain, gone(undefined, left, false)],
      [byMain, gone(undefined, looks(behind, AT, { requests }))],
    ] as const)
      expect(decided(state, what, rules).state.name).toBe('draining');
  });
});

test('a drain by the heartbeat is taken back when main refreshes its file again, and nothing else calls', () => {
  const byHeartbeat = draining({ trigger: { by: 'heartbeat', at: 5_000 } });
  const after = (...requests: Observation['requests']) =>
    decided(byHeartbeat, looks(behind, AT, { requests })).state.name;
  expect(after()).toBe('watching');
  expect(after({ by: 'heartbeat', at: 5_000 })).toBe('draining');
  expect(after({ by: 'http', at: 6_000 })).toBe('draining');
});

describe('before anything is read', () => {
  const OFF = { quiet: 'off' } as const;
  const silent = (at: number, changes: Partial<Observation> = {}, rules: Partial<Policy> = {}) =>
    decided(begin(0), { ...looks([], at), ...changes }, { startTimeout: 600_000, quiet: 60_000, ...rules });

  test.each<[string, ReturnType<typeof silent>, State['name'], number | undefined]>([
    ['Fluentd is waited for', silent(599_999), 'waiting', 600_000],
    ['the start timeout is a trigger, where silence is one', silent(600_000), 'draining', undefined],
    ['the start timeout is none, where another has to come', silent(600_000, {}, OFF), 'waiting', undefined],
    ['one entry that moved begins the watch', silent(1, { hasRead: true }), 'watching', undefined],
  ])('%s', (_, { state, wakeAt }, name, due) => {
    expect([state.name, wakeAt]).toEqual([name, due]);
  });

  test('a Fluentd that ends while it loads is waited for as long as one settles, and was never there', () => {
    const requests = [{ by: 'main-ended', at: 0 }] as const;
    const rules = { startTimeout: 'off', settle: 2_000 } as const;
    const loads = snapshot(10_000, [], { fluentd: { ...REMOTE, isStarting: true }, requests });
    const { state } = decided(begin(0), seen([loads]), rules);
    const over = { kind: 'absent', why: 'Fluentd has ended', hasEnded: true } as const;
    const later = (at: number) =>
      decided(state, seen([loads, snapshot(at, [], { fluentd: over, requests })]), rules).state;
    expect(later(11_999).name).toBe('waiting');
    const end = { kind: 'no-fluentd', why: 'Fluentd has ended' };
    expect(later(12_000)).toMatchObject({ name: 'stopped', end });
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
