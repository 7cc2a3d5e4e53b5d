import { describe, expect, test } from 'vitest';
import {
  absenceDeadline,
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
  stopDeadline,
  triggerAt,
} from '../../../src/core/drain/deadlines.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { begin, type Trigger } from '../../../src/core/drain/state.ts';
import type { Snapshot, StopRequest } from '../../../src/core/look/snapshot.ts';
import type { Observation } from '../../../src/core/observe/observation.ts';
import { ABSENT, entry, fileOf, policy, running, seen, snapshot } from '../../support/builders.ts';

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
const QUIET: Trigger = { by: 'quiet', at: 19_000 };
const TERM: Trigger = { by: 'SIGTERM', at: 10_000 };
const OVER = Number.NEGATIVE_INFINITY;
const MAIN = [{ pid: 1, startTime: '1' }];
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

const absence: Ask = (seen, rules) => absenceDeadline(begin(1_000), seen, rules);
const settle =
  (trigger: Trigger, until = OVER): Ask =>
  (seen, rules) =>
    settleEnd({ until }, trigger, seen, rules);
const stopping: Ask = (seen, rules) => stopDeadline(begin(15_000), seen, rules);
const drains =
  (trigger: Trigger): Ask =>
  (seen, rules) =>
    drainDeadline(trigger, seen, rules);
const flushes: Ask = (seen, rules) => lastFlushAt(HTTP, seen, rules);
const returns: Ask = (seen, rules) => returnDeadline(HTTP, seen, rules);

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
    {
      title: 'of the start is the start timeout',
      ask: (_, rules) => startDeadline(1_000, rules),
      at: 601_000,
    },
    { title: 'of the quiet window is counted from the last movement', ask: quietAt, at: 65_000 },
    { title: 'of the quiet window may be off', ask: quietAt, rules: { quiet: 'off' }, at: undefined },
    { title: 'of main that was never seen is the start timeout', ask: mainEndAt, at: 600_000 },
    {
      title: 'of main that is gone is `doneProcessGone`',
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
      rules: { role: 'parent' },
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
    {
      title: 'the settle time after the last movement, where that came later',
      ask: settle({ by: 'http', at: 0 }),
      at: 7_000,
    },
    {
      title: 'when no line is on its way any more, where that is later',
      ask: settle(HTTP, 40_000),
      at: 40_000,
    },
    {
      title: 'then at once, where the trigger says that main has ended',
      ask: settle(QUIET, 3_000),
      at: 3_000,
    },
    {
      title: 'then at once, where the kubelet’s signal says so',
      ask: settle(TERM, 3_000),
      rules: { role: 'native-sidecar' },
      at: 3_000,
    },
  ])('$title', check);

  test.each(['SIGTERM', 'SIGINT', 'http', 'abort', 'heartbeat'] as const)(
    'the settle time after %s, which does not say that main has ended',
    (by) => check({ title: by, ask: settle({ by, at: 10_000 }, 3_000), at: 12_000 }),
  );
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
  [59_999, true],
  [60_000, false],
])('a worker that has not opened its pos file after %i ms is waited for: %s', (at, isStarting) => {
  const starting = { fluentd: running({ isStarting: true }) };
  expect(isWorkerStarting(seen([look(0, starting), look(at, starting)]))).toBe(isStarting);
});

function check({ ask, looks = usual, rules = {}, at }: Row): void {
  expect(ask(seen(looks, policy(rules)), policy(rules))).toBe(at);
}

function looksWith(last: Partial<Snapshot>): readonly Snapshot[] {
  const [before, moved] = [entry({ position: 90 }), entry()];
  return [
    snapshot(0, [[before, fileOf(before, 100)]]),
    snapshot(5_000, [[moved]]),
    snapshot(20_000, [[moved]], last),
  ];
}

function look(at: number, changes: Partial<Snapshot>): Snapshot {
  return snapshot(at, [[entry()]], changes);
}
