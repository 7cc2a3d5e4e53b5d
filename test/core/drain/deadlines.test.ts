import { describe, expect, test } from 'vitest';
import {
  absenceDeadline,
  choiceDeadline,
  doubtEnd,
  drainDeadline,
  isOver,
  isWorkerStarting,
  lastFlushAt,
  mainEndAt,
  quietAt,
  returnDeadline,
  settleEnd,
  signalsIn,
  startDeadline,
  startEnd,
  stopDeadline,
  triggerAt,
} from '../../../src/core/drain/deadlines.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { begin, type Trigger } from '../../../src/core/drain/state.ts';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import { NO_BUFFERS } from '../../../src/core/fluentd/buffer-contents.ts';
import type { Snapshot, StopRequest } from '../../../src/core/look/snapshot.ts';
import type { Observation } from '../../../src/core/observe/observation.ts';
import { entryKeyIn } from '../../../src/core/pos-file/pos-file.ts';
import {
  ABSENT,
  entry,
  fileOf,
  outputReading,
  POS,
  policy,
  running,
  seen,
  snapshot,
  told,
} from '../../support/builders.ts';

/** What is seen, with the defaults of `policy()`, and with `rules` beside them. */
type Ask = (seen: Observation, rules: Policy) => number | undefined;

interface Row {
  readonly title: string;
  readonly ask: Ask;
  readonly looks?: readonly Snapshot[];
  readonly rules?: Partial<Policy>;
  readonly at: number | undefined;
}

const HTTP: Trigger = { by: 'http', at: 10_000 };
const TERM: Trigger = { by: 'SIGTERM', at: 10_000 };
const OVER = Number.NEGATIVE_INFINITY;
const MAIN = [{ pid: 1, startTime: '1' }];
const WRAPPER = {
  kind: 'wrapper',
  leader: { pid: 9, startTime: '9' },
  since: 3_000,
  permitted: true,
} as const;

/** Looks at 0 s, 5 s and 20 s; the position moves at 5 s. */
const usual = looksWith({});
const signalled = looksWith({ requests: [{ by: 'SIGTERM', at: 12_000 }] });
const signalledTwice = looksWith({
  requests: [
    { by: 'SIGTERM', at: 12_000 },
    { by: 'SIGINT', at: 13_000 },
  ],
});
const away = looksWith({ fluentd: ABSENT });
const unread = looksWith({}, 500);

const absence: Ask = (seen, rules) => absenceDeadline(begin(1_000), seen, rules);
const settle =
  (trigger: Trigger): Ask =>
  (seen, rules) =>
    settleEnd(trigger, seen, rules);
const stopping: Ask = (seen, rules) => stopDeadline(begin(15_000), seen, rules);
const drains =
  (trigger: Trigger): Ask =>
  (seen, rules) =>
    drainDeadline(trigger, seen, rules);
const flushes: Ask = (seen, rules) => lastFlushAt(HTTP, seen, rules);
const returns: Ask = (seen, rules) => returnDeadline(HTTP, seen, rules);
const tail = (changes: Partial<Policy['tail']>) => ({ tail: { ...DEFAULT_TAIL, ...changes } });

describe('the deadline', () => {
  test.each<Row>([
    { title: 'of a Fluentd that is not there is the start timeout', ask: absence, at: 601_000 },
    {
      title: 'of a Fluentd that is not there may be off',
      ask: absence,
      rules: { startTimeout: 'off' },
      at: undefined,
    },
    {
      title: 'of a Fluentd that is not there is the grace period after a signal',
      ask: absence,
      looks: signalled,
      at: 27_000,
    },
    {
      title: 'of a Fluentd that is not there is over at a second signal',
      ask: absence,
      looks: signalledTwice,
      at: OVER,
    },
    { title: 'of a choice between fluentds is 10 s after the first look', ask: choiceDeadline, at: 10_000 },
    {
      title: 'of the start is the start timeout',
      ask: (_, rules) => startDeadline(begin(1_000), rules),
      at: 601_000,
    },
    { title: 'of the quiet window is counted from the last movement', ask: quietAt, at: 65_000 },
    { title: 'of the quiet window may be off', ask: quietAt, rules: { quiet: 'off' }, at: undefined },
    { title: 'of a doubt is the start timeout', ask: doubtEnd, at: 600_000 },
    { title: 'of main that was never seen is the start timeout', ask: mainEndAt, at: 600_000 },
    {
      title: 'of main that is gone is the settle time',
      ask: mainEndAt,
      looks: [look(0, { mains: MAIN }), look(5_000, { mains: MAIN }), look(7_000, { mains: [] })],
      at: 9_000,
    },
    {
      title: 'of main that runs is none',
      ask: mainEndAt,
      looks: [look(0, { mains: MAIN }), look(5_000, { mains: MAIN })],
      at: undefined,
    },
    { title: 'of the next trigger is the quiet window', ask: triggerAt, at: 65_000 },
    {
      title: 'of the next trigger is what comes first',
      ask: triggerAt,
      rules: { doneProcess: true, startTimeout: 30_000 },
      at: 30_000,
    },
    {
      title: 'of the next trigger is none that is over',
      ask: triggerAt,
      rules: { doneProcess: true, startTimeout: 20_000 },
      at: 65_000,
    },
    { title: 'of a drain is the drain timeout', ask: drains(HTTP), at: 310_000 },
    {
      title: 'of a drain by a signal is the grace period, less the time to stop',
      ask: drains(TERM),
      looks: signalled,
      at: 27_000,
    },
    {
      title: 'of a drain is the grace period where a signal came later',
      ask: drains(HTTP),
      looks: signalled,
      at: 27_000,
    },
    {
      title: 'of a drain is its own where that comes first',
      ask: drains(HTTP),
      looks: signalled,
      rules: { drainTimeout: 5_000 },
      at: 15_000,
    },
    {
      title: 'of a drain by a signal is not the drain timeout',
      ask: drains(TERM),
      looks: signalled,
      rules: { drainTimeout: 5_000 },
      at: 27_000,
    },
    {
      title: 'of a drain keeps half of a short grace period for the stop',
      ask: drains(TERM),
      looks: signalled,
      rules: { grace: 8_000 },
      at: 16_000,
    },
    { title: 'of the last flush is 10 s before that of the drain', ask: flushes, at: 300_000 },
    {
      title: 'of the last flush is half way in a short drain',
      ask: flushes,
      rules: { drainTimeout: 8_000 },
      at: 14_000,
    },
    { title: 'of the last flush counts from the signal', ask: flushes, looks: signalled, at: 19_500 },
    { title: 'of a return is none while Fluentd is there', ask: returns, at: undefined },
    { title: 'of a return is the settle time', ask: returns, looks: away, at: 22_000 },
    {
      title: 'of a return is over at once for a child',
      ask: returns,
      looks: away,
      rules: { parent: true },
      at: 20_000,
    },
    {
      title: 'of a return is that of the drain where the kubelet starts Fluentd again',
      ask: returns,
      looks: away,
      rules: { restartPolicy: 'on-failure' },
      at: 310_000,
    },
    {
      title: 'of a return is never later than that of the drain',
      ask: returns,
      looks: away,
      rules: { drainTimeout: 11_000 },
      at: 21_000,
    },
    { title: 'of a stop is the stop timeout', ask: stopping, at: 135_000 },
    { title: 'of a stop is the grace period after a signal', ask: stopping, looks: signalled, at: 37_000 },
    {
      title: 'of a stop leaves the time that was kept for it, also late in the grace period',
      ask: (seen, rules) => stopDeadline(begin(36_000), seen, rules),
      looks: signalled,
      at: 46_000,
    },
  ])('$title', check);
});

describe('everything read is believed', () => {
  test.each<Row>([
    { title: 'the settle time after the trigger', ask: settle(HTTP), at: 12_000 },
    { title: 'the settle time after everything was read', ask: settle({ by: 'http', at: 0 }), at: 7_000 },
    {
      title: 'not before the settle time from the trigger, while bytes are left',
      ask: settle(HTTP),
      looks: unread,
      at: 12_000,
    },
    {
      title: 'at once after a quiet window, which counts',
      ask: settle({ by: 'quiet', at: 19_000 }),
      at: 7_000,
    },
    {
      title: 'the settle time after main was gone, which counts',
      ask: settle({ by: 'done-process', at: 12_000 }),
      looks: [look(0, { mains: MAIN }), look(5_000, { mains: MAIN }), look(7_000, { mains: [] })],
      at: 9_000,
    },
    {
      title: 'only when in_tail has let go of a renamed file',
      ask: settle(HTTP),
      looks: [look(0, {}), rotated(18_000)],
      at: 24_000,
    },
    {
      title: 'only when the last record of a multiline source is out',
      ask: settle(HTTP),
      rules: tail({ multilineFlush: 20_000 }),
      at: 26_000,
    },
    {
      title: 'at once where nothing is multiline',
      ask: settle({ by: 'quiet', at: 19_000 }),
      rules: { settle: 0 },
      at: 5_000,
    },
    {
      title: 'only when a supervisor that was started again has run for the settle time',
      ask: settle(HTTP),
      looks: looksWith({ fluentd: running({ supervisor: { pid: 5_000, startTime: '9' } }) }),
      at: 22_000,
    },
  ])('$title', check);
});

describe('a Fluentd that was just started is up', () => {
  test.each<Row>([
    { title: 'the settle time after it was first seen', ask: startEnd, at: 2_000 },
    {
      title: 'for a parent, 10 s after it was first seen while it has no worker',
      ask: startEnd,
      looks: [look(1_000, { fluentd: running({ workers: [] }) })],
      rules: { parent: true },
      at: 11_000,
    },
    {
      title: 'for a parent, the settle time once it has a worker',
      ask: startEnd,
      rules: { parent: true },
      at: 2_000,
    },
    {
      title: '10 s after its worker was first seen, where its open files may not be looked at',
      ask: startEnd,
      looks: [look(1_000, { fluentd: running({ isStarting: undefined }) })],
      at: 11_000,
    },
    {
      title: '10 s after its wrapper was first seen',
      ask: startEnd,
      looks: looksWith({ fluentd: WRAPPER }),
      at: 13_000,
    },
    {
      title: 'where nobody has seen it start',
      ask: startEnd,
      looks: [look(0, { fluentd: ABSENT })],
      at: OVER,
    },
  ])('$title', check);
});

test('a deadline is over from its instant on, and one that is none never is', () => {
  expect([isOver(5, 4), isOver(5, 5), isOver(undefined, 5)]).toEqual([false, true, false]);
});

test('of the calls for the end only signals make the kubelet count', () => {
  const by = ['SIGTERM', 'SIGINT', 'done-file', 'http', 'abort'] as const;
  const requests = by.map((by): StopRequest => ({ by, at: 1 }));
  expect(signalsIn(seen(looksWith({ requests }))).map((one) => one.by)).toEqual(['SIGTERM', 'SIGINT']);
});

test.each([
  ['open', true, Number.POSITIVE_INFINITY],
  ['closed', false, 12_000],
  ['nobody knows', undefined, 72_000],
])(
  'below a <group> the rest of a renamed file is waited for while in_tail has it open: %s',
  (_, isOpen, at) => {
    const old = entry({ position: 5 });
    const next = entry({ position: 3, inode: '8' });
    const gone = new Map([[entryKeyIn(POS, old), { size: 100, isOpen }]]);
    const looks = [
      snapshot(0, [[old, fileOf(old, 100)]]),
      snapshot(6_000, [[next]]),
      snapshot(8_000, [[next]], { gone }),
    ];
    check({ title: '', ask: settle({ by: 'http', at: 0 }), looks, rules: tail({ readLimit: 0 }), at });
  },
);

test.each([
  ['below a <group> anew as long as a buffer is full', 0, [5], 74_000],
  ['below a <group> from when a buffer has room again', 0, [5, 90], 73_000],
  ['below a <group> from the rename, where a buffer had room before', 0, [90, 90, 90], 72_000],
  ['without a limit from the rename, also while a buffer is full', undefined, [5], 12_000],
])('the rest of a renamed file is waited for %s', (_, readLimit, spaces, at) => {
  const [old, next] = [entry({ position: 5 }), entry({ position: 3, inode: '8' })];
  const gone = new Map([[entryKeyIn(POS, old), { size: 100, isOpen: undefined }]]);
  const space = (index: number) => ({
    buffers: {
      ...NO_BUFFERS,
      none: false,
      outputs: [outputReading({ told: told({ space: spaces.at(index) ?? 5 }) })],
    },
  });
  const looks = [
    snapshot(0, [[old, fileOf(old, 100)]], space(0)),
    snapshot(6_000, [[next]], space(0)),
    snapshot(7_000, [[next]], { gone, ...space(-1) }),
    snapshot(8_000, [[next]], { gone, ...space(-1) }),
  ];
  check({ title: '', ask: settle({ by: 'http', at: 0 }), looks, rules: tail({ readLimit }), at });
});

test('below a <group> a renamed file that was read to its end is not waited for', () => {
  const [old, next] = [entry({ position: 100 }), entry({ position: 3, inode: '8' })];
  const gone = new Map([[entryKeyIn(POS, old), { size: 100, isOpen: undefined }]]);
  const looks = [snapshot(0, [[old]]), snapshot(6_000, [[next]]), snapshot(8_000, [[next]], { gone })];
  const rules = tail({ readLimit: 0 });
  check({ title: '', ask: settle({ by: 'http', at: 0 }), looks, rules, at: 12_000 });
});

test.each([
  ['is waited for', null, Number.POSITIVE_INFINITY],
  ['is not waited for where in_tail follows it under another name', 5, 12_000],
])('below a <group> one byte of a renamed file %s', (_, position, at) => {
  const [old, next] = [entry({ position: 5 }), entry({ position: 3, inode: '8' })];
  const renamed = entry({ path: '/renamed', position });
  const gone = new Map([[entryKeyIn(POS, old), { size: 6, isOpen: true }]]);
  const looks = [
    snapshot(0, [[old, fileOf(old, 6)]]),
    snapshot(6_000, [[next]]),
    snapshot(8_000, [[next], [renamed]], { gone }),
  ];
  check({ title: '', ask: settle({ by: 'http', at: 0 }), looks, rules: tail({ readLimit: 0 }), at });
});

test.each([
  ['below a <group>', 0, 72_000],
  ['without a limit', undefined, 8_000],
])(
  '%s the rest of a file that in_tail found and main renamed between two looks is waited for until %s',
  (_, readLimit, at) => {
    const follows = (...files: readonly { path: string; inode: string; size: number }[]) => ({
      followed: [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }],
    });
    const fresh = { path: '/new', inode: '8', size: 3 };
    const looks = [look(0, follows(fresh)), look(6_000, { ...follows(), opened: new Set(['8']) })];
    check({ title: '', ask: settle({ by: 'http', at: 0 }), looks, rules: tail({ readLimit }), at });
  },
);

test.each([
  [59_999, true],
  [60_000, false],
])('a worker that has not opened its pos file after %i ms is waited for: %s', (at, isStarting) => {
  const starting = { fluentd: running({ isStarting: true }) };
  expect(isWorkerStarting(seen([look(0, starting), look(at, starting)]))).toBe(isStarting);
});

function check({ ask, looks = usual, rules = {}, at }: Row): void {
  expect(ask(seen(looks, policy(rules)), policy(rules))).toBe(at);
}

function looksWith(last: Partial<Snapshot>, size = 100): readonly Snapshot[] {
  const [before, moved] = [entry({ position: 90 }), entry()];
  return [
    snapshot(0, [[before, fileOf(before, size)]]),
    snapshot(5_000, [[moved, fileOf(moved, size)]]),
    snapshot(20_000, [[moved, fileOf(moved, size)]], last),
  ];
}

function look(at: number, changes: Partial<Snapshot>): Snapshot {
  return snapshot(at, [[entry()]], changes);
}

function rotated(at: number): Snapshot {
  const renamed = { path: '/var/log/app.log.1', stat: { inode: '7', size: 100 } };
  return snapshot(at, [[entry(), { atPath: { inode: '8', size: 0 }, renamed }]]);
}
