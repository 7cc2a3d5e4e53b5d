import { describe, expect, test } from 'vitest';
import * as deadlines from '../../../src/core/drain/deadlines.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { begin, type Trigger } from '../../../src/core/drain/state.ts';
import { settleEnd } from '../../../src/core/drain/trigger.ts';
import type { Observation } from '../../../src/core/look/observation.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { ABSENT, entry, fileOf, policy, seen, snapshot } from '../../support/builders.ts';
import { sized } from '../worlds.ts';

/** The observation, with the defaults of `policy()` and with `rules`. */
type Ask = (seen: Observation, rules: Policy) => number | undefined;
type Row = [what: string, at: number | undefined, rules?: Partial<Policy>, looks?: readonly Snapshot[]];

const HTTP: Trigger = { by: 'http', at: 10_000 };
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
const ended = looksWith({ fluentd: { kind: 'absent', why: 'it has ended', hasEnded: true } });
const mainRuns = [look(0, { mains: MAIN }), look(5_000, { mains: MAIN })];

function check(ask: Ask, rows: readonly Row[]): void {
  test.each<Row>(rows)('%s', (_, at, rules = {}, looks = usual) => {
    expect(ask(seen(looks, policy(rules)), policy(rules))).toBe(at);
  });
}

const stopBegun =
  (at: number): Ask =>
  (seen, rules) =>
    deadlines.stopDeadline(begin(at), seen, rules);
const drainBy =
  (trigger: Trigger): Ask =>
  (seen, rules) =>
    deadlines.drainDeadline(trigger, seen, rules);
const settled =
  (trigger: Trigger, until = OVER): Ask =>
  (seen, rules) =>
    settleEnd(trigger, { ...seen, progress: { ...seen.progress, busyUntil: until } }, rules);

describe('the deadline of a Fluentd that is not there', () => {
  check(
    (seen, rules) => deadlines.absenceDeadline(begin(1_000), seen, rules),
    [
      ['is the start timeout', 601_000],
      ['may be off', undefined, { startTimeout: 'off' }],
      ['is the grace period after a signal', 27_000, {}, signalled],
      ['is over at a second signal', OVER, {}, signalledTwice],
      ['is the settle time where nobody starts it again', 3_000, { settle: 2_000 }, ended],
    ],
  );
});

describe('the deadline', () => {
  check(deadlines.quietAt, [
    ['of the quiet window is counted from the last movement', 65_000],
    ['of the quiet window may be off', undefined, { quiet: 'off' }],
  ]);
  check(deadlines.mainEndAt, [
    ['of main that was never seen is the start timeout', 600_000],
    ['of main that is gone is `doneProcessGone`', 9_000, {}, [...mainRuns, look(7_000, { mains: [] })]],
    ['of main that runs is none', undefined, {}, mainRuns],
  ]);
  check(deadlines.triggerAt, [
    ['of the next trigger is the quiet window', 65_000],
    ['of the next trigger is what comes first', 30_000, { doneProcess: true, startTimeout: 30_000 }],
    ['of the next trigger is none that is over', 65_000, { doneProcess: true, startTimeout: 20_000 }],
  ]);
});

describe('the time in which in_tail may still deliver a last line', () => {
  const finish =
    (at: number): Ask =>
    (seen) =>
      deadlines.finishEnd({ ...HTTP, at }, seen);
  check(finish(10_000), [['counts from the trigger', 12_000]]);
  check(finish(1_000), [['counts from a movement after that', 7_000]]);
});

describe('the deadline of a drain', () => {
  check(drainBy(HTTP), [
    ['is the drain timeout', 310_000],
    ['is the grace period where a signal came later', 27_000, {}, signalled],
    ['is its own where that comes first', 15_000, { drainTimeout: 5_000 }, signalled],
  ]);
  check(drainBy(TERM), [
    ['by a signal is the grace period, less the time to stop', 27_000, {}, signalled],
    ['by a signal is not the drain timeout', 27_000, { drainTimeout: 5_000 }, signalled],
    ['keeps half of a short grace period for the stop', 16_000, { grace: 8_000 }, signalled],
  ]);
});

describe('the deadline of the last flush', () => {
  check(
    (seen, rules) => deadlines.lastFlushAt(HTTP, seen, rules),
    [
      ['is 10 s before that of the drain', 300_000],
      ['is half way in a short drain', 14_000, { drainTimeout: 8_000 }],
      ['counts from the signal', 19_500, {}, signalled],
    ],
  );
});

describe('the deadline of a return', () => {
  check(
    (seen, rules) => deadlines.returnDeadline(HTTP, seen, rules),
    [
      ['is none while Fluentd is there', undefined],
      ['is the settle time', 22_000, {}, away],
      ['is over at once for a child', 20_000, { role: 'parent' }, away],
      ['is never later than that of the drain', 21_000, { drainTimeout: 11_000 }, away],
    ],
  );
});

describe('the deadline of a stop', () => {
  check(stopBegun(15_000), [
    ['is the stop timeout', 135_000],
    ['is the grace period after a signal', 37_000, {}, signalled],
    ['is a second earlier in an ending Pod, to tell the outcome', 36_000, { podEnds: true }, signalled],
  ]);
  check(stopBegun(36_000), [
    ['leaves the time kept for it, also late in the grace period', 46_000, {}, signalled],
  ]);
});

describe('everything read is believed', () => {
  check(settled(HTTP), [['the settle time after the trigger', 12_000]]);
  check(settled({ by: 'http', at: 0 }), [['the settle time after a later movement', 7_000]]);
  const beat = { by: 'heartbeat', at: 10_000 } as const;
  check(settled(beat), [
    [
      'the settle time after the heartbeat, which does not end with main',
      12_000,
      {},
      looksWith({ requests: [beat] }),
    ],
  ]);
  check(settled(HTTP, 40_000), [['when no line is on its way any more, where that is later', 40_000]]);
  const requests = [{ by: 'done-file', at: 19_500 }] as const;
  check(settled({ by: 'SIGTERM', at: 19_000 }, 3_000), [
    ['at once, where a later request says that main has ended', 3_000, {}, looksWith({ requests })],
  ]);
});

function looksWith(last: Partial<Snapshot>): readonly Snapshot[] {
  const moved = sized(100);
  const before = [entry({ position: 90 }), fileOf(entry())] as const;
  return [snapshot(0, [before]), snapshot(5_000, [moved]), snapshot(20_000, [moved], last)];
}

function look(at: number, changes: Partial<Snapshot>): Snapshot {
  return snapshot(at, [[entry()]], changes);
}
