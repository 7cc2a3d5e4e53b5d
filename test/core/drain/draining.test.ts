import { describe, expect, test } from 'vitest';
import { drain } from '../../../src/core/drain/moves.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining, State, Trigger } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import type { FluentdReading } from '../../../src/core/fluentd/processes.ts';
import type { Snapshot, StopRequest } from '../../../src/core/look/snapshot.ts';
import type { Observation } from '../../../src/core/observe/observation.ts';
import {
  ABSENT,
  draining,
  entry,
  fileOf,
  IN_MEMORY,
  LOG,
  ORPHANED,
  onDisk,
  policy,
  running,
  seen,
  snapshot,
  type Watched,
} from '../../support/builders.ts';
import { sight } from '../../support/said.ts';
import { alive } from '../../support/witnesses.ts';

const AT = 9_000;
const DEADLINE = 60_000;
/** The last flush begins so long before the deadline, and the stop so long after that flush. */
const CLOSES = DEADLINE - 250;
const SETTLED = 50_000;
const FLUSH = [{ do: 'flush' }];
const SIGINT = [{ do: 'signal', target: 'supervisor', signal: 'SIGINT' }];
const QUIET: Trigger = { by: 'quiet', at: 5_000 };
const behind: readonly Watched[] = [[entry(), fileOf(entry(), 300)]];
const read: readonly Watched[] = [[entry()]];
const halfLine: readonly Watched[] = [[entry(), { atPath: { inode: '7', size: 104 }, newlineLeft: false }]];
const buffered = { buffers: IN_MEMORY };
const flushed = { flushedAt: 5_000 };

function looks(files: readonly Watched[], at: number, changes: Partial<Snapshot> = {}): Observation {
  return seen([snapshot(0, files, changes), snapshot(at, files, changes)]);
}

function decided(state: State, what: Observation, rules: Partial<Policy> = {}) {
  return step(state, what, policy({ drainTimeout: DEADLINE, ...rules }));
}

const signals = (...at: readonly number[]) => ({
  requests: at.map((when): StopRequest => ({ by: 'SIGTERM', at: when })),
});

describe('a drain that is over its time', () => {
  test('flushes what was read since the last flush, and stops a moment later', () => {
    const early = decided(draining(), looks(behind, CLOSES - 1, buffered));
    expect(early.state).toMatchObject({ name: 'draining' });
    expect(early.state).not.toHaveProperty('closingAt');
    const closing = decided(draining(), looks(behind, CLOSES, buffered));
    expect(closing).toMatchObject({ actions: FLUSH, wakeAt: DEADLINE, state: { closingAt: CLOSES } });
    const still = decided(draining({ closingAt: CLOSES }), looks(behind, DEADLINE - 1, buffered));
    expect(still).toMatchObject({ actions: [], wakeAt: DEADLINE, state: { name: 'draining' } });
    const stopped = decided(draining({ closingAt: CLOSES }), looks(behind, DEADLINE, buffered));
    expect(stopped).toMatchObject({ state: { name: 'stopping' }, actions: SIGINT });
    expect(stopped.moved).toMatch(/^not drained, unread: \/var\/log\/app.log/);
  });

  test('stops on time where nothing can be flushed', () => {
    expect(decided(draining(), looks(behind, CLOSES))).toMatchObject({ actions: [], wakeAt: DEADLINE });
    expect(decided(draining(), looks(behind, DEADLINE - 1)).state.name).toBe('draining');
    expect(decided(draining(), looks(behind, DEADLINE)).state.name).toBe('stopping');
  });

  test('flushes nothing where every gate is open', () => {
    const empty = draining({ flushedAt: CLOSES - 1 });
    expect(decided(empty, looks(read, CLOSES, buffered))).toMatchObject({
      actions: [],
      state: { name: 'draining' },
    });
  });

  test.each([
    ['stops at once at a second signal', [8_000, 8_500], 'stopping', undefined],
    ['goes on at the first one, until the last flush', [8_000], 'draining', 15_500],
  ])('%s', (_, at, name, wakeAt) => {
    expect(decided(draining(), looks(behind, AT, signals(...at)))).toMatchObject({ state: { name }, wakeAt });
  });

  test('by the grace period waits for its end after one signal', () => {
    const late = looks(behind, 14_750, signals(0));
    const state = draining({ trigger: { by: 'SIGTERM', at: 0 } });
    expect(decided(state, late, { grace: 25_000 })).toMatchObject({
      wakeAt: 15_000,
      state: { name: 'draining' },
    });
  });

  test('says of a Fluentd that is away at a second signal that it ended by itself', () => {
    const away = seen([
      snapshot(0, behind),
      snapshot(AT, behind, { fluentd: ABSENT, ...signals(8_000, 8_500) }),
    ]);
    expect(decided(draining(), away)).toMatchObject({
      state: { end: { kind: 'ended-by-itself' } },
      actions: [],
    });
  });
});

describe('the next look of a drain', () => {
  test.each([
    ['comes at the last flush, not at the settle time that has passed', AT, SETTLED],
    ['comes when the settle time is over', 1_000, 2_000],
    ['comes before the deadline once it is time for the last flush', SETTLED, CLOSES],
  ])('%s', (_, at, wakeAt) => {
    expect(decided(draining(), looks(behind, at))).toMatchObject({
      state: { name: 'draining' },
      wakeAt,
      actions: [],
    });
  });

  test('comes at once where the last one did not take in everything', () => {
    const partly = looks(read, AT, { depth: 'rest' });
    expect(decided(draining(), partly)).toMatchObject({ state: { name: 'draining' }, wakeAt: AT });
  });

  test('takes in everything, and one at rest does not', () => {
    expect(decided(draining(), looks(behind, AT)).depth).toBe('all');
    expect(decided({ name: 'watching', since: 0 }, looks(behind, AT), { quiet: 'off' }).depth).toBe('rest');
  });
});

describe('a drain that finds everything read', () => {
  const empty = { buffers: onDisk() };

  test('tells Fluentd to stop at once where no output has a buffer', () => {
    expect(decided(draining(), looks(read, AT))).toMatchObject({
      moved: 'everything is read',
      state: { name: 'stopping', since: AT, toldAt: AT, told: [4242], termedOrphans: false },
      actions: SIGINT,
    });
  });

  test('flushes first what a buffer holds, or may hold', () => {
    expect(decided(draining(), looks(read, AT, buffered)).actions).toEqual(FLUSH);
    expect(decided(draining(), looks(read, AT, { buffers: onDisk(1) })).actions).toEqual(FLUSH);
  });

  test.each([
    ['goes on after a flush where the buffers are found empty once', undefined, 'draining', AT],
    ['goes on where the same look is judged again', AT, 'draining', AT],
    ['stops Fluentd where they are found empty twice', AT - 1, 'stopping', undefined],
  ])('%s', (_, emptyAt, name, kept) => {
    const { state, moved } = decided(draining({ ...flushed, emptyAt }), looks(read, AT, empty));
    expect(state).toMatchObject({ name, ...(kept !== undefined && { emptyAt: kept }) });
    expect(moved).toBe(kept === undefined ? 'everything is read and flushed' : undefined);
  });

  test('forgets that the buffers were empty where they hold chunks again, or Fluentd is away for a look', () => {
    const state = draining({ ...flushed, emptyAt: AT - 1 });
    const again = decided(state, looks(read, AT, { buffers: onDisk(1) }));
    expect(again.state).toMatchObject({ name: 'draining', emptyAt: undefined });
    const away = seen([snapshot(0, read), snapshot(1_000, read, { fluentd: ABSENT })]);
    expect(decided(state, away)).toMatchObject({
      state: { name: 'draining', emptyAt: undefined },
      actions: [],
    });
  });

  test.each<[string, FluentdReading, Partial<Policy>, Partial<State>, readonly object[]]>([
    [
      'tells workers without a supervisor by SIGTERM',
      ORPHANED,
      {},
      { name: 'stopping', told: [], termedOrphans: true },
      [{ do: 'signal', target: 'workers', signal: 'SIGTERM' }],
    ],
    [
      'leaves the stop to the kubelet',
      running(),
      { role: 'native-sidecar' },
      { end: { kind: 'left-to-kubelet' } } as Partial<State>,
      [],
    ],
  ])('%s', (_, fluentd, rules, state, actions) => {
    const next = decided(draining(), looks(read, AT, { fluentd }), rules);
    expect(next.state).toMatchObject(state);
    expect(next.actions).toEqual(actions);
  });

  test('never signals a Fluentd that may be another one, not even at the deadline', () => {
    const unproven = looks(read, DEADLINE, { fluentd: running({ proof: 'none' }) });
    const { state, actions } = decided(draining(), unproven);
    expect({ state, actions }).toMatchObject({ state: { end: { kind: 'not-proven' } }, actions: [] });
  });
});

describe('an unfinished last line', () => {
  const DONE = { by: 'done-file', at: 0 } as const;
  const SIGTERM = { by: 'SIGTERM', at: 0 } as const;
  const NATIVE = { role: 'native-sidecar' } as const;
  const END = [{ do: 'end-line', path: LOG, size: 104 }];
  test.each<[string, Partial<Policy>, Partial<Draining>, Partial<Snapshot>, readonly object[]]>([
    ['is ended first, where that is asked for', { completeLastLine: true }, {}, buffered, END],
    ['is ended once', { completeLastLine: true }, { completed: true }, buffered, FLUSH],
    ['is left as it is, where main may still write', {}, {}, buffered, FLUSH],
    ['is ended by default where main has made its done file', {}, { trigger: DONE }, buffered, END],
    ['is ended in a native sidecar, where it gets SIGTERM', NATIVE, { trigger: SIGTERM }, buffered, END],
    ['is left as it is in a native sidecar, where another one calls', NATIVE, {}, buffered, FLUSH],
    [
      'is left as it is, where that is asked for',
      { completeLastLine: false },
      { trigger: DONE },
      buffered,
      FLUSH,
    ],
    [
      'is ended also while chunks wait to be sent',
      { completeLastLine: true },
      flushed,
      { buffers: onDisk(1) },
      END,
    ],
  ])('%s', (_, rules, changes, look, actions) => {
    const next = decided(draining(changes), looks(halfLine, AT, look), rules);
    expect(next.actions).toEqual(actions);
    if (actions === END) expect(next.state).toMatchObject({ completed: true });
  });

  test.each([
    [
      'is ended as a witness says that it is',
      { pos: 90, unfinished: 10 },
      [{ do: 'end-line', path: '/log/a.log', size: 100 }],
    ],
    ['is none where lines were not emitted', { pos: 90, unfinished: 10, lines: 1 }, []],
  ])('%s', (_, file, actions) => {
    const testimony = { at: AT, witnesses: [alive({ files: [sight(file)] })] };
    const { actions: all } = decided(draining(), looks(read, AT, { testimony }), { completeLastLine: true });
    expect(all).toEqual(actions);
  });

  test('is not ended when the drain begins', () => {
    expect(drain({ by: 'done-file', at: 0 }, looks(read, AT), policy()).state).not.toHaveProperty(
      'completed',
    );
  });

  test('is none where in_tail has read a file to its end, as a witness says', () => {
    const testimony = { at: AT, witnesses: [alive()] };
    const { actions } = decided(draining(), looks(read, AT, { testimony }), { completeLastLine: true });
    expect(actions.map((action) => action.do)).toEqual(['signal']);
  });

  test('is not ended before everything else is read', () => {
    const both = [
      ...halfLine,
      [entry({ path: '/b', inode: '8' }), fileOf(entry({ inode: '8' }), 300)] as const,
    ];
    expect(decided(draining(), looks(both, AT), { completeLastLine: true }).actions).toEqual([]);
  });
});

describe('a guess', () => {
  test('is taken back by a movement, and by no other look', () => {
    const still = decided(draining({ trigger: QUIET }), looks(behind, AT));
    expect(still.state.name).toBe('draining');
    const at = (position: number) => [[entry({ position })]] as readonly Watched[];
    const moved = seen([snapshot(0, at(90)), snapshot(AT, at(100))]);
    expect(decided(draining({ trigger: { by: 'quiet', at: AT } }), moved).state.name).toBe('draining');
    expect(decided(draining({ trigger: QUIET }), moved)).toMatchObject({
      state: { name: 'watching', since: AT },
      moved: 'lines came in again',
    });
    expect(decided(draining(), moved).state.name).toBe('draining');
  });

  test.each(['quiet', 'start-timeout'] as const)(
    '(%s) gives way to a call, which cannot be taken back',
    (by) => {
      const requests = [{ by: 'SIGTERM', at: AT }] as const;
      const { state } = decided(draining({ trigger: { by, at: 5_000 } }), looks(behind, AT, { requests }));
      expect(state).toMatchObject({ name: 'draining', since: AT, trigger: requests[0] });
    },
  );
});

test('a look that is late ends nothing, and is judged by nothing', () => {
  const late: Observation = { ...looks(read, AT, buffered), extent: 'late' };
  expect(decided(draining(), late)).toMatchObject({ actions: [], wakeAt: CLOSES, state: draining() });
});
