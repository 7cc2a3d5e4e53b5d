import { describe, expect, test } from 'vitest';
import { NEVER } from '../../../src/core/drain/deadlines.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import {
  type Action,
  begin,
  isTold,
  questionIn,
  type State,
  type Trigger,
} from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import { drain } from '../../../src/core/drain/transitions.ts';
import { depthIn, ofMainBy } from '../../../src/core/drain/trigger.ts';
import type { Observation } from '../../../src/core/look/observation.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { DrainRequest } from '../../../src/core/progress/drain-request.ts';
import type { FluentdReading } from '../../../src/core/progress/fluentd-reading.ts';
import type { Progress } from '../../../src/core/progress/progress.ts';
import {
  ABSENT,
  draining,
  entry,
  IN_MEMORY,
  onDisk,
  policy,
  REMOTE,
  row,
  running,
  seen,
  snapshot,
  type Watched,
} from '../../support/builders.ts';
import { sight } from '../../support/said.ts';
import { alive } from '../../support/witnesses.ts';
import { said, sized } from '../worlds.ts';

const AT = 9_000;
/** Of a drain and of a stop that begin at 0. */
const DEADLINE = 60_000;
/** The last flush begins so long before the deadline, and the stop so long after that flush. */
const CLOSES = DEADLINE - 250;
const WATCHING = { name: 'watching', since: 0 } as const;
const behind: readonly Watched[] = [sized(300)];
const read: readonly Watched[] = [[entry()]];

/** A look at the start, and one at this time, at the same world. */
function looks(files: readonly Watched[], at: number, changes: Partial<Snapshot> = {}): Observation {
  return seen([snapshot(0, files, changes), snapshot(at, files, changes)]);
}

function decided(state: State, what: Observation, rules: Partial<Policy> = {}) {
  return step(state, what, policy({ drainTimeout: DEADLINE, stopTimeout: DEADLINE, ...rules }));
}

const signals = (...at: readonly number[]) => ({
  requests: at.map((when): DrainRequest => ({ by: 'SIGTERM', at: when })),
});

describe('quiet', () => {
  const witnessed = { progress: looks(behind, 4_000, said(alive())).progress };
  const unseen: Watched = [entry(), { error: 'EIO' }];
  const changed = (changes: Partial<Progress>) => ({ progress: { ...looks(read, 0).progress, ...changes } });
  const unknown = changed({ doubts: [{ kind: 'pos-file', about: '/pos', why: 'is away' }] });
  const hiding = changed({ doubts: [{ kind: 'pos-file', about: '/pos', bytes: 1, why: 'is away' }] });
  const silent = (at: number, changes: Partial<Observation> = {}, files = read) =>
    decided(WATCHING, { ...looks(files, at), ...changes }, { quiet: 4_000, startTimeout: 20_000 });

  test.each<[string, Parameters<typeof silent>, State['name']]>([
    ['is a trigger once its window is over', [4_000], 'draining'],
    ['is none before', [3_999], 'watching'],
    ['is none within its window after a movement', [8_000, changed({ movedAt: 4_001 })], 'watching'],
    ['is none while a pos file is unknown', [19_999, unknown], 'watching'],
    ['counts after the start timeout all the same', [20_000, unknown], 'draining'],
    ['is none while bytes are left', [60_000, {}, behind], 'watching'],
    ['is none while a pos file may hide unread bytes', [60_000, hiding], 'watching'],
    ['is one beside bytes that were read, as a witness says', [4_000, witnessed, behind], 'draining'],
    ['is one beside bytes that nobody will read', [4_000, { goneSince: 1 }, behind], 'draining'],
    ['is one beside a file that cannot be looked at', [4_000, {}, [unseen]], 'draining'],
  ])('%s', (_, world, name) => {
    expect(silent(...world).state.name).toBe(name);
  });

  test('asks a witness about unread bytes when its window is over', () => {
    const source = 'witness';
    const depthAt = (at: number, changes: Partial<Observation> = {}) =>
      depthIn(WATCHING, { ...looks(behind, at), ...changes }, policy({ quiet: 4_000 }));
    expect(depthAt(4_000, { source })).toBe('all');
    expect(depthAt(3_999, { source })).toBe('light');
    expect(depthAt(4_000)).toBe('light');
  });

  test('says how long nothing has moved, and begins at the look', () => {
    expect(silent(5_000)).toMatchObject({
      state: { name: 'draining', since: 5_000, trigger: { by: 'quiet', at: 5_000 }, pending: undefined },
      whyChanged: 'nothing has moved for 5.0 s',
      action: undefined,
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
    const ofMain = (longestGap: number | undefined) => {
      const what = gone(1_000);
      return ofMainBy({ by: 'done-process', at: AT }, { ...what, main: { ...what.main, longestGap } }, known);
    };
    expect([undefined, 1_999, 2_000].map(ofMain)).toEqual(['ended', 'ended', 'nothing']);
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

test('a heartbeat that main refreshes again says nothing of main, whoever else calls', () => {
  const trigger = { by: 'heartbeat', at: 5_000 } as const;
  const ofMain = (...requests: readonly DrainRequest[]) =>
    ofMainBy(trigger, looks(behind, AT, { requests }), policy());
  expect(ofMain({ by: 'SIGTERM', at: 6_000 })).toBe('nothing');
  expect(ofMain(trigger, { by: 'SIGTERM', at: 6_000 })).toBe('stopped');
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

  test.each<[string, Parameters<typeof silent>, State['name'], number]>([
    ['Fluentd is waited for', [599_999], 'waiting', 600_000],
    ['the start timeout is a trigger, where silence is one', [600_000], 'draining', NEVER],
    ['the start timeout is none, where another has to come', [600_000, {}, OFF], 'waiting', NEVER],
    ['one entry that moved begins the watch', [1, { hasRead: true }], 'watching', NEVER],
  ])('%s', (_, world, name, due) => {
    const { state, wakeAt } = silent(...world);
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

const QUIET: Trigger = { by: 'quiet', at: 5_000 };
const buffered = { buffers: IN_MEMORY };
const flushed = { flushedAt: 5_000 };

describe('a drain that is over its time', () => {
  test('flushes the lines read since the last flush, and stops a moment later', () => {
    const early = decided(draining(flushed), looks(behind, CLOSES - 1, buffered));
    expect(early).toMatchObject({ action: undefined, state: { name: 'draining' } });
    const closing = decided(draining(), looks(behind, CLOSES, buffered));
    expect(closing).toMatchObject({ action: 'flush', state: { flushedAt: CLOSES } });
    const still = decided(closing.state, looks(behind, DEADLINE - 1, { buffers: onDisk(1) }));
    expect(still).toMatchObject({ action: undefined, state: { name: 'draining' } });
    const stopped = decided(closing.state, looks(behind, DEADLINE, buffered));
    expect(stopped).toMatchObject({ state: { name: 'stopping' }, action: 'stop' });
    expect(stopped.whyChanged).toMatch(/^posidle waits no longer, unread: \/var\/log\/app.log/);
  });

  test('flushes nothing if every gate is open', () => {
    const { action, state } = decided(draining({ flushedAt: CLOSES - 1 }), looks(read, CLOSES, buffered));
    expect([action, state.name]).toEqual([undefined, 'draining']);
  });

  test.each([
    ['stops at once at a second signal', [8_000, 8_500], 'stopping'],
    ['goes on at the first one', [8_000], 'draining'],
  ])('%s', (_, at, name) => {
    expect(decided(draining(), looks(behind, AT, signals(...at))).state).toMatchObject({ name });
  });
});

describe('a drain that finds everything read', () => {
  const empty = { buffers: onDisk() };

  test('tells Fluentd to stop at once if no output has a buffer', () => {
    expect(decided(draining(), looks(read, AT))).toMatchObject({
      whyChanged: 'everything is read',
      state: { name: 'stopping', since: AT, toldAt: AT, told: [4242] },
      action: 'stop',
    });
  });

  test('flushes the buffers that it cannot see', () => {
    const { state, action } = decided(draining(), looks(read, AT, buffered));
    expect({ ...state, action }).toMatchObject({ flushedAt: AT, action: 'flush' });
  });

  test.each([
    ['goes on after a flush where the buffers are found empty once', undefined, 'draining', AT],
    ['goes on where the same look is judged again', AT, 'draining', AT],
    ['stops Fluentd where they are found empty twice', AT - 1, 'stopping', undefined],
  ])('%s', (_, emptyAt, name, kept) => {
    const { state, whyChanged } = decided(draining({ ...flushed, emptyAt }), looks(read, AT, empty));
    expect(state).toMatchObject({ name, ...(kept !== undefined && { emptyAt: kept }) });
    expect(whyChanged).toBe(kept === undefined ? 'everything is read and flushed' : undefined);
  });

  test('forgets that the buffers were empty if they hold chunks again, or if Fluentd is away for a look', () => {
    const state = draining({ ...flushed, emptyAt: AT - 1 });
    const again = decided(state, looks(read, AT, { buffers: onDisk(1) }));
    expect(again.state).toMatchObject({ name: 'draining', emptyAt: undefined });
    const away = decided(state, seen([snapshot(0, read), snapshot(1_000, read, { fluentd: ABSENT })]));
    expect(away).toMatchObject({ state: { name: 'draining', emptyAt: undefined }, action: undefined });
  });

  test('leaves the stop to the kubelet', () => {
    const next = decided(draining(), looks(read, AT), { podEnds: true });
    expect(next).toMatchObject({ state: { end: { kind: 'left-to-kubelet' } }, action: undefined });
  });

  test('never signals what may be another Fluentd, also at the deadline', () => {
    const next = decided(draining(), looks(read, DEADLINE, { fluentd: running({ proof: 'none' }) }));
    expect(next).toMatchObject({ state: { end: { kind: 'not-proven' } }, action: undefined });
  });
});

test.each([
  ['keeps a record until then', { files: [sight({ record: 30 })] }],
  ['ignores SIGTERM', { sigterm: false }],
  ['has a filter that posidle does not know', { plugins: [{ class: 'Fluent::Plugin::OtherFilter' }] }],
])('in an ending Pod, too, posidle itself stops a Fluentd that %s', (_, facts) => {
  const look = { fluentd: REMOTE, posFiles: [], ...said(alive(facts)) };
  expect(decided(draining(), looks([], AT, look), { podEnds: true })).toMatchObject({ action: 'stop' });
});

describe('what in_tail may still finish', () => {
  const DONE: Trigger = { by: 'done-file', at: AT };
  const lookAt = (file: object, at = AT, first = AT) =>
    seen([first, at].map((each) => snapshot(each, read, said(alive({ files: [sight(file)] })))));
  const half = { pos: 90, unfinished: 10 };

  test.each([
    ['an unfinished line', half],
    ['a record of a multiline source', { record: 10 }],
  ])('%s keeps the drain waiting for two seconds, if main has ended', (_, file) => {
    const begun = draining({ trigger: DONE, mainEndedAt: AT });
    const at = (after: number) => decided(begun, lookAt(file, AT + after));
    expect(at(0)).toMatchObject({ action: undefined, state: { mainEndedAt: AT } });
    expect(at(1_999).state.name).toBe('draining');
    expect(at(2_000).state.name).toBe('stopping');
  });

  test('keeps a drain waiting that began before main had ended', () => {
    const requests = [
      { by: 'SIGTERM', at: 0 },
      { by: 'done-file', at: AT },
    ] as const;
    const at = (after: number) => ({ ...lookAt(half, AT + after, 0), requests });
    const { state } = decided(draining({ trigger: { by: 'SIGTERM', at: 0 } }), at(0));
    expect(state.name).toBe('draining');
    expect(decided(state, at(1_999)).state.name).toBe('draining');
    expect(decided(state, at(2_000)).state.name).toBe('stopping');
  });

  test('an unfinished line keeps no drain waiting while main may still write, nor if all is read', () => {
    expect(decided(draining({ trigger: { by: 'quiet', at: AT } }), lookAt(half)).state.name).toBe('stopping');
    expect(decided(draining({ trigger: DONE }), lookAt({})).state.name).toBe('stopping');
  });

  test.each([
    ['look', 'watching', undefined],
    ['find', 'draining', { by: 'SIGTERM', at: 0 }],
    ['finish', 'draining', DONE],
  ] as const)('the question is %s while posidle is %s (%o)', (question, name, trigger) => {
    const state = trigger && drain(trigger, looks(read, AT), policy()).state;
    expect(questionIn(state ?? ({ name, since: 0 } as State))).toBe(question);
  });
});

test.each([
  ['waiting', false],
  ['watching', false],
  ['draining', false],
  ['stopping', true],
  ['killing', true],
  ['stopped', false],
] as const)('while posidle is %s, that Fluentd got the stop order is %s', (name, told) => {
  expect(isTold({ name, since: 0 } as State)).toBe(told);
});

test('a guess is taken back by a movement, and by no other look', () => {
  const still = decided(draining({ trigger: QUIET }), looks(behind, AT));
  expect(still.state.name).toBe('draining');
  const at = (position: number) => [[entry({ position })]] as readonly Watched[];
  const moved = seen([snapshot(0, at(90)), snapshot(AT, at(100))]);
  expect(decided(draining({ trigger: { by: 'quiet', at: AT } }), moved).state.name).toBe('draining');
  const back = decided(draining({ trigger: QUIET }), moved);
  expect(back).toMatchObject({ state: { name: 'watching', since: AT }, whyChanged: 'lines came in again' });
  expect(decided(draining(), moved).state.name).toBe('draining');
});

test('an overdue look ends no drain, and opens no gate', () => {
  const late: Observation = { ...looks(read, AT, buffered), extent: 'overdue' };
  expect(decided(draining(), late)).toMatchObject({ action: undefined, state: draining() });
});

const successor = running({ supervisor: { pid: 5_000, startTime: '9' } });
const stopping = {
  name: 'stopping',
  since: 0,
  trigger: { by: 'http', at: 0 },
  pending: undefined,
  toldAt: 0,
  told: [4242],
} as const;

/** Fluentd ran at the start, and now this is found. */
function stepped(state: State, fluentd: FluentdReading, at = AT, rules: Partial<Policy> = {}) {
  return decided(state, seen([snapshot(0, behind), snapshot(at, behind, { fluentd })]), rules);
}

describe('a Fluentd that was told to stop', () => {
  test.each<[string, FluentdReading, number, Action | undefined, object?]>([
    ['is not told again', running(), AT, undefined],
    ['and whose successor runs on: it is told to stop, too', successor, AT, 'stop'],
    ['and whose successor was told too is not told again', successor, AT, undefined, { told: [4242, 5_000] }],
    ['by a call: what shows of it later is not told', running(), AT, undefined, { told: [] }],
    ['by a call: is called again when 5 s have passed', REMOTE, 5_000, 'stop'],
    ['by a call: is not called again before', REMOTE, 4_999, undefined],
    ['is killed when the time to stop is over', running(), 60_000, 'kill'],
    ['is not killed before', running(), 59_999, undefined],
  ])('%s', (_, fluentd, at, action, changes = {}) => {
    expect(stepped({ ...stopping, ...changes }, fluentd, at).action).toBe(action);
  });

  test('and is told again has the time of that order', () => {
    expect(stepped(stopping, REMOTE, 5_000).state).toMatchObject({ toldAt: 5_000 });
    expect(stepped(stopping, successor).state).toMatchObject({ toldAt: AT, told: [4242, 5_000] });
  });

  test('and is killed has the time since the signal', () => {
    const late = { ...stopping, since: 10_000 };
    expect(stepped(late, running(), 70_000).whyChanged).toBe('Fluentd still runs 60 s after the stop signal');
    expect(stepped(late, running(), 69_999).whyChanged).toBeUndefined();
  });

  test('but cannot be killed from here is out of reach', () => {
    expect(stepped(stopping, REMOTE, 70_000).state).toMatchObject({ end: { kind: 'survived' } });
  });

  test('because its supervisor had ended by itself is reported so', () => {
    const deserted = { ...stopping, trigger: { by: 'deserted', at: 0 } } as const;
    expect(stepped(deserted, ABSENT).state).toMatchObject({ end: { kind: 'ended-by-itself' } });
  });

  test('and is gone has stopped', () => {
    const { trigger, pending } = stopping;
    expect(stepped(stopping, ABSENT).state).toMatchObject({ end: { kind: 'stopped' }, trigger, pending });
  });

  test('and was killed is gone, or is given up after 10 s', () => {
    const killing = { ...stopping, name: 'killing', killed: 4242 } as const;
    expect(stepped(killing, ABSENT).state).toMatchObject({ end: { kind: 'killed' } });
    expect(stepped(killing, running(), 9_999)).toMatchObject({ state: { name: 'killing' } });
    expect(stepped(killing, running(), 10_000).state).toMatchObject({ end: { kind: 'survived' } });
  });

  test('and was killed while SIGUSR2 started its successor has that one killed, too, once', () => {
    const { state: killing } = stepped(stopping, running(), 60_000);
    expect(killing).toMatchObject({ name: 'killing', killed: 4242 });
    const next = stepped(killing, successor, 60_000);
    expect(next).toMatchObject({ action: 'kill', state: { name: 'killing', killed: 5_000 } });
    expect(stepped(next.state, successor, 60_000).action).toBeUndefined();
  });
});

describe('a Fluentd that is not there', () => {
  const never = (at: number, requests: Snapshot['requests'] = []) =>
    looks(behind, at, { fluentd: ABSENT, requests });

  test('is waited for until the start timeout, also when a call has come', () => {
    const called = decided(begin(0), never(AT, [{ by: 'http', at: 1 }]));
    expect(called).toMatchObject({ state: begin(0), wakeAt: 600_000 });
    const { state } = decided(begin(0), never(600_000));
    expect(state).toMatchObject({ end: { kind: 'no-fluentd', why: 'no fluentd runs' } });
  });

  test('is missed by its parent at once', () => {
    const rules = { role: 'parent' } as const;
    expect(decided(begin(0), never(AT), rules).state).toMatchObject({ end: { kind: 'no-fluentd' } });
    const { state } = stepped(WATCHING, ABSENT, AT, rules);
    expect(state).toMatchObject({ end: { kind: 'ended-by-itself' }, trigger: undefined });
  });

  test('while it is drained may come back within the settle time, before the deadline and a second signal', () => {
    const away = (...times: readonly number[]) =>
      seen([snapshot(0, read), ...times.map((at) => snapshot(at, read, { fluentd: ABSENT }))]);
    expect(decided(draining(), away(1_000, 2_999)).state.name).toBe('draining');
    const stopped = { end: { kind: 'ended-by-itself' }, trigger: draining().trigger };
    for (const times of [
      [1_000, 3_000],
      [DEADLINE - 1, DEADLINE],
    ])
      expect(decided(draining(), away(...times)).state).toMatchObject(stopped);
    const twice = { ...away(1_000, 2_999), ...signals(500, 2_500) };
    expect(decided(draining(), twice).state).toMatchObject(stopped);
  });
});

test('a Fluentd that posidle may not signal ends it at once', () => {
  const foreign = running({ proof: 'not-permitted' });
  const end = { kind: 'not-permitted' };
  const { trigger } = draining();
  expect(stepped(WATCHING, foreign).state).toMatchObject({ end, trigger: undefined });
  expect(stepped(draining(), foreign).state).toMatchObject({ end, trigger });
});

test.each<[string, State, number, string, number, Partial<Snapshot>?]>([
  ['are told apart for 10 s', begin(0), 9_999, 'waiting', 10_000],
  ['are refused then', begin(0), 10_000, 'stopped', NEVER],
  ['are refused at once where one was known', WATCHING, 9_999, 'stopped', NEVER],
  ['are refused when the grace period ends', begin(0), 3_000, 'stopped', NEVER, signals(1_000)],
  ['are refused at a second signal', begin(0), 1_000, 'stopped', NEVER, signals(900, 950)],
])('several fluentds %s', (_, state, at, name, wakeAt, look = {}) => {
  const candidates = [row({ pid: 5, argv: ['fluentd', '-c', 'a'] }), row({ pid: 6, argv: ['td-agent'] })];
  const fluentd: FluentdReading = { kind: 'ambiguous', candidates };
  const last = decided(state, looks(behind, at, { fluentd, ...look }), { grace: 2_000 });
  expect(last).toMatchObject({ state: { name }, wakeAt });
  if (name === 'stopped') expect(last.whyChanged).toMatch(/pid 5 \(fluentd -c a\), pid 6 \(td-agent\)/);
});
