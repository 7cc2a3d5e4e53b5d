import { expect, test } from 'vitest';
import type { State } from '../../../src/core/drain/state.ts';
import { statusOf } from '../../../src/core/drain/status.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { ABSENT, draining, entry, fileOf, LOG, POS, policy, seen, snapshot } from '../../support/builders.ts';

const file = entry();
const followed = [
  { posFile: POS, refreshInterval: 0, byInode: false, files: [{ path: '/new', inode: '9', size: 5 }] },
];

function status(state: State, changes: Partial<Snapshot> = {}) {
  const looks = [
    snapshot(0, [[file, fileOf(file, 130)]]),
    snapshot(2_000.4, [[file, fileOf(file, 130)]], { followed, ...changes }),
  ];
  return statusOf(state, seen(looks), policy(), 'why');
}

test('the status tells the state, the files, what is left and what is doubted', () => {
  expect(status(draining())).toEqual({
    state: 'draining',
    since: 2_000,
    why: 'why',
    trigger: 'http',
    gate: `${LOG}: not read to its end (30 B); /new: Fluentd has not found it (5 B)`,
    files: [{ path: LOG, inode: '7', state: 'behind', position: 100, size: 130, lag: 30 }],
    undiscovered: [{ path: '/new', size: 5 }],
    lag: 35,
    age: 2_000,
    left: {
      count: 2,
      bytes: 35,
      worst: [expect.objectContaining({ path: LOG }), expect.objectContaining({ path: '/new' })],
    },
    doubts: { count: 1, bytes: 0, worst: [expect.objectContaining({ kind: 'no-witness' })] },
    fluentd: { kind: 'running', pid: 4242, workers: [4243] },
  });
});

test('what is not known is null', () => {
  const nothing = statusOf(
    { name: 'waiting', since: 0 },
    seen([snapshot(0, [], { fluentd: ABSENT })]),
    policy(),
    '',
  );
  expect(nothing).toMatchObject({
    trigger: null,
    gate: null,
    age: null,
    fluentd: { pid: null, workers: [] },
  });
});

test('the trigger is told to the end', () => {
  const end = { kind: 'stopped', why: '' } as const;
  const { trigger } = draining();
  expect(status({ name: 'stopped', since: 0, end, result: { trigger, owed: undefined } }).trigger).toBe(
    'http',
  );
  expect(status({ name: 'stopped', since: 0, end, result: undefined }).trigger).toBeNull();
});
