import { expect, test } from 'vitest';
import type { State, Trigger } from '../../../src/core/drain/state.ts';
import { statusOf } from '../../../src/core/drain/status.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { ABSENT, draining, LOG, seen, snapshot } from '../../support/builders.ts';
import { sized, unfound } from '../worlds.ts';

function status(state: State, changes: Partial<Snapshot> = {}) {
  const last = snapshot(2_000.4, [sized(130)], { ...unfound(5), ...changes });
  return statusOf(state, seen([snapshot(0, [sized(130)]), last]), 'why');
}

test('the status has the state, and everything left or doubted', () => {
  expect(status(draining())).toEqual({
    state: 'draining',
    since: 2_000,
    why: 'why',
    trigger: 'http',
    left: {
      count: 2,
      bytes: 35,
      worst: [expect.objectContaining({ path: LOG }), expect.objectContaining({ path: '/new' })],
    },
    doubts: { count: 1, bytes: 0, worst: [expect.objectContaining({ kind: 'no-witness' })] },
    files: 1,
    outputs: [],
    fluentd: { kind: 'running', pid: 4242, workers: [4243] },
  });
});

test('an unknown value is null', () => {
  const nothing = seen([snapshot(0, [], { fluentd: ABSENT })]);
  const unknown = { trigger: null, fluentd: { pid: null, workers: [] } };
  expect(statusOf({ name: 'waiting', since: 0 }, nothing, '')).toMatchObject(unknown);
});

test('the trigger is shown to the end', () => {
  const end = { kind: 'stopped', why: '' } as const;
  const told = (trigger: Trigger | undefined) =>
    status({ name: 'stopped', since: 0, end, trigger, pending: undefined }).trigger;
  expect([told(draining().trigger), told(undefined)]).toEqual(['http', null]);
});
