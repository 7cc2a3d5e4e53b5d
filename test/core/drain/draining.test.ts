import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining, State, Trigger } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import { NO_BUFFERS } from '../../../src/core/fluentd/buffer-contents.ts';
import type { Snapshot, StopRequest } from '../../../src/core/look/snapshot.ts';
import type { Observation } from '../../../src/core/observe/observation.ts';
import { entry, fileOf, outputReading, policy, running, seen, snapshot } from '../../support/builders.ts';

const AT = 9_000;
const DEADLINE = 60_000;
/** The last flush begins so long before the deadline, and the stop so long after that flush. */
const CLOSES = DEADLINE - 250;
const SETTLED = 50_000;
const FLUSH = [{ do: 'flush' }];
const HTTP: Trigger = { by: 'http', at: 0 };
const QUIET: Trigger = { by: 'quiet', at: 5_000 };
const GONE: Trigger = { by: 'done-process', at: 5_000 };
const behind = [[entry(), fileOf(entry(), 300)]] as const;
const read = [[entry()]] as const;
const buffered = { buffers: { ...NO_BUFFERS, none: false, outputs: [outputReading()] } };

const by = (trigger: Trigger, changes: Partial<Draining> = {}): Draining => ({
  name: 'draining',
  since: 0,
  trigger,
  completed: false,
  flush: undefined,
  emptyAt: undefined,
  closingAt: undefined,
  ...changes,
});
const looks = (files: typeof behind | typeof read, at: number, changes: Partial<Snapshot> = {}) =>
  seen([snapshot(0, files, changes), snapshot(at, files, changes)]);
const decided = (state: State, what: Observation, rules: Partial<Policy> = {}) =>
  step(state, what, policy({ drainTimeout: DEADLINE, ...rules }));
const signals = (...at: readonly number[]) => ({
  requests: at.map((when): StopRequest => ({ by: 'SIGTERM', at: when })),
});

describe('a drain that is over its time', () => {
  test('flushes what was read since the last flush, and stops a moment later', () => {
    const early = decided(by(HTTP), looks(behind, CLOSES - 1, buffered));
    expect(early.state).toMatchObject({ name: 'draining', closingAt: undefined });
    const closing = decided(by(HTTP), looks(behind, CLOSES, buffered));
    expect(closing).toMatchObject({ actions: FLUSH, wakeAt: DEADLINE, state: { closingAt: CLOSES } });
    const still = decided(by(HTTP, { closingAt: CLOSES }), looks(behind, DEADLINE - 1, buffered));
    expect(still).toMatchObject({ actions: [], wakeAt: DEADLINE, state: { name: 'draining' } });
    const stopped = decided(by(HTTP, { closingAt: CLOSES }), looks(behind, DEADLINE, buffered));
    expect(stopped.state).toMatchObject({ name: 'stopping', gate: { name: 'unread' } });
  });

  test('stops on time where nothing can be flushed', () => {
    expect(decided(by(HTTP), looks(behind, CLOSES))).toMatchObject({ actions: [], wakeAt: DEADLINE });
    expect(decided(by(HTTP), looks(behind, DEADLINE - 1)).state.name).toBe('draining');
    expect(decided(by(HTTP), looks(behind, DEADLINE)).state).toMatchObject({
      name: 'stopping',
      gate: { name: 'unread' },
    });
  });

  test('flushes nothing where every gate is open', () => {
    const all = looks(read, CLOSES, buffered);
    const empty = by(HTTP, { flush: { at: CLOSES - 1, buffers: undefined } });
    expect(decided(empty, all)).toMatchObject({ actions: [], state: { name: 'draining' } });
  });

  test.each([
    ['stops at once at a second signal', [8_000, 8_500], 'stopping', undefined],
    ['goes on at the first one, until the last flush', [8_000], 'draining', 15_500],
  ])('%s', (_, at, name, wakeAt) => {
    expect(decided(by(HTTP), looks(behind, AT, signals(...at)))).toMatchObject({ state: { name }, wakeAt });
  });

  test('by the grace period waits for its end after one signal', () => {
    const late = looks(behind, 14_750, signals(0));
    const state = by({ by: 'SIGTERM', at: 0 });
    expect(decided(state, late, { grace: 25_000 })).toMatchObject({
      wakeAt: 15_000,
      state: { name: 'draining' },
    });
  });

  test('does not judge a look that is late before its time', () => {
    const late = { ...looks(behind, AT, buffered), isLate: true } as const;
    expect(decided(by(HTTP), late)).toMatchObject({ actions: [], wakeAt: CLOSES, state: by(HTTP) });
  });
});

describe('the next look of a drain', () => {
  test.each([
    ['comes at the last flush, not at the settle time that has passed', AT, SETTLED],
    ['comes when the settle time is over', 1_000, 2_000],
    ['comes before the deadline once it is time for the last flush', SETTLED, CLOSES],
  ])('%s', (_, at, wakeAt) => {
    expect(decided(by(HTTP), looks(behind, at))).toMatchObject({
      state: { name: 'draining' },
      wakeAt,
      actions: [],
    });
  });

  test('comes at once where the last one did not take in everything', () => {
    const partly = looks(read, AT, { depth: 'rest' });
    expect(decided(by(HTTP), partly)).toMatchObject({ state: { name: 'draining' }, wakeAt: AT });
  });

  test('is whole, and at rest it is not', () => {
    expect(decided(by(HTTP), looks(behind, AT)).depth).toBe('all');
    expect(decided({ name: 'watching', since: 0 }, looks(behind, AT), { quiet: 'off' }).depth).toBe('rest');
  });
});

test('that an unfinished line was ended is remembered', () => {
  const file = [entry(), { atPath: { inode: '7', size: 104 }, newlineLeft: false }] as const;
  const partly = seen([0, AT].map((at) => snapshot(at, [file])));
  expect(decided(by(HTTP), partly, { completeLastLine: true }).state).toMatchObject({ completed: true });
});

describe('a trigger', () => {
  const requests: readonly StopRequest[] = [{ by: 'done-file', at: AT }];

  test.each<[string, Trigger, readonly StopRequest[], Trigger]>([
    ['that is a guess gives way to a certain one', QUIET, requests, { by: 'done-file', at: AT }],
    ['that is certain stays', HTTP, requests, HTTP],
    ['that is a guess stays where no other comes', QUIET, [], QUIET],
  ])('%s', (_, trigger, requests, then) => {
    expect(decided(by(trigger), looks(behind, AT, { requests })).state).toMatchObject({ trigger: then });
  });

  test.each<[string, Trigger, number | undefined, State['name']]>([
    ['quiet is taken back when lines come in again', QUIET, 5_001, 'watching'],
    ['start timeout is taken back too', { by: 'start-timeout', at: 5_000 }, 5_001, 'watching'],
    ['quiet stays where they had come before it', QUIET, 5_000, 'draining'],
    ['quiet stays where nothing ever moved', QUIET, undefined, 'draining'],
    ['that is certain stays', HTTP, 5_001, 'draining'],
  ])('%s', (_, trigger, movedAt, name) => {
    expect(decided(by(trigger), { ...looks(behind, AT), movedAt }).state.name).toBe(name);
  });

  test.each<[string, Trigger, { seen: boolean; goneSince?: number }, readonly StopRequest[], State['name']]>([
    ["by main's end is taken back when main runs again", GONE, { seen: true }, [], 'watching'],
    ["by main's end stays while main is gone", GONE, { seen: true, goneSince: AT }, [], 'draining'],
    ['by a main that was never seen stays', GONE, { seen: false }, [], 'draining'],
    ["by main's end stays when a certain one has come", GONE, { seen: true }, requests, 'draining'],
    ['that is another one stays when main runs', HTTP, { seen: true }, [], 'draining'],
  ])('%s', (_, trigger, { seen, goneSince }, requests, name) => {
    const plain = looks(behind, AT, { requests });
    const main = { sightings: new Map(), seen, goneSince };
    const what = { ...plain, memory: { ...plain.memory, main } };
    expect(decided(by(trigger), what, { doneProcess: true }).state.name).toBe(name);
  });

  test('is the first call, or the end of main that was long enough ago', () => {
    const watching = { name: 'watching', since: 0 } as const;
    const called = looks(read, AT, { requests });
    expect(decided(watching, called).state).toMatchObject({ trigger: requests[0] });
    const gone = (goneSince: number) => {
      const plain = looks(read, AT);
      return { ...plain, memory: { ...plain.memory, main: { sightings: new Map(), seen: true, goneSince } } };
    };
    const rules = { doneProcess: true, quiet: 'off' } as const;
    expect(decided(watching, gone(7_000), rules).state).toMatchObject({
      trigger: { by: 'done-process', at: AT },
    });
    expect(decided(watching, gone(7_001), rules)).toMatchObject({ state: watching, wakeAt: 9_001 });
  });
});

describe('quiet', () => {
  const watching = { name: 'watching', since: 0 } as const;
  const unknown = [{ path: '/pos', why: 'is away', empty: false }];
  const silent = (
    at: number,
    changes: Partial<Observation> = {},
    files: typeof behind | typeof read = read,
  ) =>
    decided(
      watching,
      { ...looks(files, at), movedAt: 0, ...changes },
      { quiet: 4_000, startTimeout: 20_000 },
    );

  test.each<[string, ReturnType<typeof silent>, State['name']]>([
    ['is a trigger once its window is over', silent(4_000), 'draining'],
    ['is none before', silent(3_999), 'watching'],
    ['is none while a pos file is unknown', silent(19_999, { unknown }), 'watching'],
    ['counts after the start timeout all the same', silent(20_000, { unknown }), 'draining'],
    ['is none while bytes are left', silent(4_000, {}, behind), 'watching'],
    ['is one beside bytes that nobody will read', silent(4_000, { goneSince: 1 }, behind), 'draining'],
  ])('%s', (_, { state }, name) => {
    expect(state.name).toBe(name);
  });
});

describe('a Fluentd that was told to stop 10 s after the start', () => {
  const result = { trigger: HTTP, gate: undefined, held: { chunks: 0, bytes: 0 }, flush: undefined };
  const told = { termedOrphans: false, toldAt: 10_000, told: [4242] };
  const stopping: State = { name: 'stopping', since: 10_000, ...told, ...result };
  const orphans = { kind: 'orphaned', workers: running().workers, permitted: true } as const;
  const rules = { stopTimeout: 60_000 };

  test('is killed after the stop timeout, and the reason says how long it took', () => {
    expect(decided(stopping, looks(read, 70_000), rules).moved).toMatch(/^Fluentd still runs 60 s after/);
    expect(decided(stopping, looks(read, 69_999), rules)).toMatchObject({ wakeAt: 70_000, state: stopping });
  });

  test('has its orphans told at half time, once', () => {
    const left = (at: number) => looks(read, at, { fluentd: orphans });
    expect(decided(stopping, left(39_999), rules)).toMatchObject({ actions: [], wakeAt: 40_000 });
    expect(decided(stopping, left(40_000), rules)).toMatchObject({
      state: { termedOrphans: true },
      wakeAt: 70_000,
    });
    const termed = { ...stopping, termedOrphans: true };
    expect(decided(termed, left(40_001), rules)).toMatchObject({ actions: [], wakeAt: 70_000 });
  });
});
