import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { begin, type State } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import { NO_BUFFERS } from '../../../src/core/fluentd/buffer-contents.ts';
import type { FluentdReading } from '../../../src/core/fluentd/processes.ts';
import {
  ABSENT,
  entry,
  ORPHANED,
  outputReading,
  policy,
  running,
  seen,
  snapshot,
  told,
} from '../../support/builders.ts';

const AT = 9_000;
const REMOTE = { kind: 'remote', permitted: true } as const;
const successor = running({ supervisor: { pid: 5_000, startTime: '9' } });
const stopping = {
  name: 'stopping',
  since: 0,
  trigger: { by: 'http', at: 0 },
  gate: undefined,
  held: { chunks: 0, bytes: 0 },
  flush: undefined,
  termedOrphans: false,
  toldAt: 0,
  told: [4242],
} as const;

function stepFrom(state: State, fluentd: FluentdReading, rules: Partial<Policy> = {}, at = AT) {
  const looks = [snapshot(0, [[entry()]]), snapshot(at, [[entry()]], { fluentd })];
  return step(state, seen(looks), policy({ stopTimeout: 60_000, ...rules }));
}

describe('a Fluentd that was told to stop', () => {
  const SIGINT = { do: 'signal', target: 'supervisor', signal: 'SIGINT' };
  const TERM = { do: 'signal', target: 'workers', signal: 'SIGTERM' };
  const KILL = { do: 'signal', target: 'all', signal: 'SIGKILL' };

  test.each<
    [string, Partial<typeof stopping> | { told: readonly number[] }, FluentdReading, number, object[]]
  >([
    ['is not told again', {}, running(), AT, []],
    ['and whose successor goes on: that one is told', {}, successor, AT, [SIGINT]],
    ['by a call: what shows of it later is not told', { told: [] }, running(), AT, []],
    ['by a call: is called again when 5 s have passed', {}, REMOTE, 5_000, [SIGINT]],
    ['by a call: is not called again before', {}, REMOTE, 4_999, []],
    ['and whose supervisor is gone: its workers are told at half time', {}, ORPHANED, 30_000, [TERM]],
    ['and whose supervisor is gone: its workers are not told before', {}, ORPHANED, 29_999, []],
    ['is killed when the time to stop is over', {}, running(), 60_000, [KILL]],
    ['is not killed before', {}, running(), 59_999, []],
  ])('%s', (_, changes, fluentd, at, actions) => {
    expect(stepFrom({ ...stopping, ...changes } as State, fluentd, {}, at).actions).toEqual(actions);
  });

  test('and is gone has stopped; where nobody told its supervisor, it has ended by itself', () => {
    const deserted = { ...stopping, trigger: { by: 'deserted', at: 0 } } as const;
    expect(stepFrom(stopping, ABSENT).state).toMatchObject({ end: { kind: 'stopped' } });
    expect(stepFrom(deserted, ABSENT).state).toMatchObject({ end: { kind: 'ended-by-itself' } });
  });

  test.each([
    [10_000, 'stopped'],
    [9_999, 'killing'],
  ])('and survives SIGKILL is given up after 10 s: %i ms', (at, name) => {
    const killing = { ...stopping, name: 'killing' } as const;
    expect(stepFrom(killing, running(), {}, at).state.name).toBe(name);
    expect(stepFrom(killing, ABSENT, {}, at).state).toMatchObject({ end: { kind: 'killed' } });
  });
});

describe('a Fluentd that posidle may not signal', () => {
  const foreign = running({ permitted: false });

  test('ends it at once, but for a dry run', () => {
    expect(stepFrom(begin(0), foreign).state).toMatchObject({ end: { kind: 'not-permitted' } });
    expect(stepFrom(begin(0), foreign, { dryRun: true }).state.name).not.toBe('stopped');
  });
});

test.each<[string, Partial<Policy>, number, State['name']]>([
  ['is drained after the start timeout, where silence is a trigger', { quiet: 60_000 }, 600_000, 'draining'],
  ['is not drained before', { quiet: 60_000 }, 599_999, 'waiting'],
  ['is waited for, where another trigger has to come', { quiet: 'off' }, 600_000, 'waiting'],
])('a Fluentd that has read nothing %s', (_, rules, at, name) => {
  const silent = seen([snapshot(0, []), snapshot(at, [])]);
  expect(step(begin(0), silent, policy({ startTimeout: 600_000, ...rules })).state.name).toBe(name);
});

test.each([
  ['is ended first, where that is asked for', true, false, 9_000, 'end-line'],
  ['is ended once', true, true, 9_000, 'flush'],
  ['is left as it is, where nobody asks for it', false, false, 9_000, 'flush'],
  ['is not ended before everything has been read for the settle time', true, false, 1_000, undefined],
] as const)('an unfinished last line %s', (_, completeLastLine, completed, at, first) => {
  const file = [entry(), { atPath: { inode: '7', size: 104 }, newlineLeft: false }] as const;
  const looks = [0, at].map((when) => snapshot(when, [file]));
  const buffers = { ...NO_BUFFERS, none: false, asked: true, outputs: [outputReading()] };
  const last = snapshot(at, [file], { buffers });
  const state = {
    name: 'draining',
    since: 0,
    trigger: { by: 'http', at: 0 },
    completed,
    flush: undefined,
    emptyAt: undefined,
    closingAt: undefined,
  } as const;
  const { actions } = step(state, seen([...looks, last]), policy({ completeLastLine, settle: 2_000 }));
  expect(actions[0]?.do).toBe(first);
});

test.each([
  ['seen empty in one look goes on', undefined, 'draining'],
  ['seen empty in this very look goes on', AT, 'draining'],
  ['seen empty in two looks is over', AT - 1, 'stopping'],
])('a drain that has flushed, with buffers %s', (_, emptyAt, name) => {
  const buffers = { ...NO_BUFFERS, none: false, asked: true, outputs: [outputReading()] };
  const looks = [snapshot(0, [[entry()]]), snapshot(AT, [[entry()]], { buffers })];
  const flush = { at: 5_000, buffers: undefined };
  const trigger = { by: 'http', at: 0 } as const;
  const state = {
    name: 'draining',
    since: 0,
    trigger,
    completed: false,
    flush,
    emptyAt,
    closingAt: undefined,
  } as const;
  expect(step(state, seen(looks), policy({ settle: 2_000 })).state.name).toBe(name);
});

test.each([
  ['are seen empty when it asks for the flush', {}, 'stopping'],
  ['hold a chunk then', { outputs: [outputReading({ told: told({ chunks: 1, bytes: 10 }) })] }, 'draining'],
  ['are in a retry then', { outputs: [outputReading({ told: told({ retrying: true }) })] }, 'draining'],
  ['cannot be seen', { outputs: [outputReading({ told: undefined, onDisk: undefined })] }, 'draining'],
  ['may be more than is known', { hidden: ['an @include'] }, 'draining'],
  ['do not answer', { silent: ['monitor_agent of worker 0'] }, 'draining'],
])('a drain whose buffers %s, and are empty in the next look, goes on to %s %s', (_, before, name) => {
  const empty = { ...NO_BUFFERS, none: false, asked: true, outputs: [outputReading()] };
  const rules = policy({ settle: 2_000 });
  const first = snapshot(AT, [[entry()]], { buffers: { ...empty, ...before } });
  const draining = {
    ...begin(0),
    name: 'draining',
    trigger: { by: 'http', at: 0 },
    completed: false,
  } as const;
  const nothingYet = { flush: undefined, emptyAt: undefined, closingAt: undefined };
  const looks = [snapshot(0, [[entry()]]), first];
  const flushed = step({ ...draining, ...nothingYet }, seen(looks), rules);
  expect(flushed.actions).toEqual([{ do: 'flush' }]);
  const next = snapshot(AT + 100, [[entry()]], { buffers: empty });
  expect(step(flushed.state, seen([...looks, next]), rules).state.name).toBe(name);
});

describe('a parent', () => {
  test('drains what its supervisor left behind, and no one else does', () => {
    const trigger = { by: 'deserted', at: AT };
    expect(stepFrom(begin(0), ORPHANED, { parent: true }).state).toMatchObject({ name: 'draining', trigger });
    expect(stepFrom(begin(0), ORPHANED).state.name).not.toBe('draining');
  });

  test('is done when its child has ended, and others wait for the trigger', () => {
    const watching = { name: 'watching', since: 0 } as const;
    expect(stepFrom(watching, ABSENT, { parent: true }).state).toMatchObject({
      end: { kind: 'ended-by-itself' },
    });
    expect(stepFrom(watching, ABSENT, { quiet: 'off' }).state.name).toBe('watching');
  });
});
