import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { questionIn, type State, type Trigger } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import { drain } from '../../../src/core/drain/transitions.ts';
import type { Observation } from '../../../src/core/look/observation.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { DrainRequest } from '../../../src/core/progress/drain-request.ts';
import {
  ABSENT,
  draining,
  entry,
  IN_MEMORY,
  onDisk,
  policy,
  REMOTE,
  running,
  seen,
  snapshot,
  type Watched,
} from '../../support/builders.ts';
import { sight } from '../../support/said.ts';
import { alive } from '../../support/witnesses.ts';
import { sized } from '../worlds.ts';

const AT = 9_000;
const DEADLINE = 60_000;
/** The last flush begins so long before the deadline, and the stop so long after that flush. */
const CLOSES = DEADLINE - 250;
const SETTLED = 50_000;
const FLUSH = [{ do: 'flush' }];
const STOP = [{ do: 'stop' }];
const QUIET: Trigger = { by: 'quiet', at: 5_000 };
const behind: readonly Watched[] = [sized(300)];
const read: readonly Watched[] = [[entry()]];
const buffered = { buffers: IN_MEMORY };
const flushed = { flushedAt: 5_000 };

function looks(files: readonly Watched[], at: number, changes: Partial<Snapshot> = {}): Observation {
  return seen([snapshot(0, files, changes), snapshot(at, files, changes)]);
}

function decided(state: State, what: Observation, rules: Partial<Policy> = {}) {
  return step(state, what, policy({ drainTimeout: DEADLINE, ...rules }));
}

const signals = (...at: readonly number[]) => ({
  requests: at.map((when): DrainRequest => ({ by: 'SIGTERM', at: when })),
});

describe('a drain that is over its time', () => {
  test('flushes the lines read since the last flush, and stops a moment later', () => {
    const early = decided(draining(), looks(behind, CLOSES - 1, buffered));
    expect(early.state).toMatchObject({ name: 'draining' });
    expect(early.state).not.toHaveProperty('closingAt');
    const closing = decided(draining(), looks(behind, CLOSES, buffered));
    expect(closing).toMatchObject({ actions: FLUSH, wakeAt: DEADLINE, state: { closingAt: CLOSES } });
    const still = decided(draining({ closingAt: CLOSES }), looks(behind, DEADLINE - 1, buffered));
    expect(still).toMatchObject({ actions: [], wakeAt: DEADLINE, state: { name: 'draining' } });
    const stopped = decided(draining({ closingAt: CLOSES }), looks(behind, DEADLINE, buffered));
    expect(stopped).toMatchObject({ state: { name: 'stopping' }, actions: STOP });
    expect(stopped.whyChanged).toMatch(/^not drained, unread: \/var\/log\/app.log/);
  });

  test('stops on time if nothing can be flushed', () => {
    expect(decided(draining(), looks(behind, CLOSES))).toMatchObject({ actions: [], wakeAt: DEADLINE });
    expect(decided(draining(), looks(behind, DEADLINE - 1)).state.name).toBe('draining');
    expect(decided(draining(), looks(behind, DEADLINE)).state.name).toBe('stopping');
  });

  test('flushes nothing if every gate is open', () => {
    const { actions, state } = decided(draining({ flushedAt: CLOSES - 1 }), looks(read, CLOSES, buffered));
    expect([actions, state.name]).toEqual([[], 'draining']);
  });

  test.each([
    ['stops at once at a second signal', [8_000, 8_500], 'stopping', undefined],
    ['goes on at the first one, until the last flush', [8_000], 'draining', 15_500],
  ])('%s', (_, at, name, wakeAt) => {
    expect(decided(draining(), looks(behind, AT, signals(...at)))).toMatchObject({ state: { name }, wakeAt });
  });
});

describe('the next look of a drain', () => {
  test.each([
    ['comes at the last flush, not at the settle time that has passed', AT, SETTLED],
    ['comes when the settle time is over', 1_000, 2_000],
    ['comes before the deadline once it is time for the last flush', SETTLED, CLOSES],
  ])('%s', (_, at, wakeAt) => {
    const next = decided(draining(), looks(behind, at));
    expect(next).toMatchObject({ state: { name: 'draining' }, wakeAt, actions: [] });
  });
});

describe('a drain that finds everything read', () => {
  const empty = { buffers: onDisk() };

  test('tells Fluentd to stop at once if no output has a buffer', () => {
    expect(decided(draining(), looks(read, AT))).toMatchObject({
      whyChanged: 'everything is read',
      state: { name: 'stopping', since: AT, toldAt: AT, told: [4242] },
      actions: STOP,
    });
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
    expect(away).toMatchObject({ state: { name: 'draining', emptyAt: undefined }, actions: [] });
  });

  test.each<[string, string, number, Partial<Policy>, boolean]>([
    ['leaves the stop to the kubelet', 'left-to-kubelet', AT, { podEnds: true }, true],
    ['never signals what may be another Fluentd, also at the deadline', 'not-proven', DEADLINE, {}, false],
  ])('%s', (_, kind, at, rules, isProven) => {
    const next = decided(
      draining(),
      looks(read, at, { fluentd: running({ proof: isProven ? 'own' : 'none' }) }),
      rules,
    );
    expect(next).toMatchObject({ state: { end: { kind } }, actions: [] });
  });
});

test.each([
  ['keeps a record until then', { files: [sight({ record: 30 })] }],
  ['ignores SIGTERM', { sigterm: false }],
  ['has a filter that posidle does not know', { plugins: [{ class: 'Fluent::Plugin::OtherFilter' }] }],
])('in an ending Pod, too, posidle itself stops a Fluentd that %s', (_, facts) => {
  const look = { fluentd: REMOTE, posFiles: [], reports: { at: 0, witnesses: [alive(facts)] } };
  expect(decided(draining(), looks([], AT, look), { podEnds: true })).toMatchObject({ actions: STOP });
});

describe('what in_tail may still finish', () => {
  const DONE: Trigger = { by: 'done-file', at: AT };
  const witnesses = (file: object) => [alive({ files: [sight(file)] })];
  const lookAt = (file: object, at = AT) =>
    seen([AT, at].map((each) => snapshot(each, read, { reports: { at: each, witnesses: witnesses(file) } })));
  const half = { pos: 90, unfinished: 10 };

  test.each([
    ['an unfinished line', half],
    ['a record of a multiline source', { record: 10 }],
  ])('%s keeps the drain waiting for two seconds, if main has ended', (_, file) => {
    const at = (after: number) => decided(draining({ trigger: DONE }), lookAt(file, AT + after));
    expect(at(0)).toMatchObject({ actions: [], state: { mainHasEnded: true } });
    expect(at(1_999).state.name).toBe('draining');
    expect(at(2_000).state.name).toBe('stopping');
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

describe('a guess', () => {
  test('is taken back by a movement, and by no other look', () => {
    const still = decided(draining({ trigger: QUIET }), looks(behind, AT));
    expect(still.state.name).toBe('draining');
    const at = (position: number) => [[entry({ position })]] as readonly Watched[];
    const moved = seen([snapshot(0, at(90)), snapshot(AT, at(100))]);
    expect(decided(draining({ trigger: { by: 'quiet', at: AT } }), moved).state.name).toBe('draining');
    const back = decided(draining({ trigger: QUIET }), moved);
    expect(back).toMatchObject({ state: { name: 'watching', since: AT }, whyChanged: 'lines came in again' });
    expect(decided(draining(), moved).state.name).toBe('draining');
  });
});

test('an overdue look ends no drain, and opens no gate', () => {
  const late: Observation = { ...looks(read, AT, buffered), extent: 'overdue' };
  expect(decided(draining(), late)).toMatchObject({ actions: [], wakeAt: CLOSES, state: draining() });
});
