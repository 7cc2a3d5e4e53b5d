import { expect, test } from 'vitest';
import * as deadlines from '../../../src/core/drain/deadlines.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { begin, type Trigger } from '../../../src/core/drain/state.ts';
import { mainAwaitedUntil, settleEnd } from '../../../src/core/drain/trigger.ts';
import type { Observation } from '../../../src/core/look/observation.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { ABSENT, entry, fileOf, policy, seen, snapshot } from '../../support/builders.ts';
import { sized } from '../worlds.ts';

/** The observation, with the defaults of `policy()` and with `rules`. */
type Ask = (seen: Observation, rules: Policy) => number;
type Row = [what: string, at: number, rules?: Partial<Policy>, looks?: readonly Snapshot[]];

const HTTP: Trigger = { by: 'http', at: 10_000 };
const TERM: Trigger = { by: 'SIGTERM', at: 10_000 };
const { NEVER } = deadlines;
const OVER = Number.NEGATIVE_INFINITY;
const MAIN = [{ pid: 1, startTime: '1' }];
/** Looks at 0 s, 5 s and 20 s; the position moves at 5 s. */
const usual = looksWith({});
const signal = { by: 'SIGTERM', at: 12_000 } as const;
const signalled = looksWith({ requests: [signal] });
const signalledTwice = looksWith({
  requests: [
    { by: 'SIGTERM', at: 12_000 },
    { by: 'SIGINT', at: 13_000 },
  ],
});
const away = looksWith({ fluentd: ABSENT });
const ended = looksWith({ fluentd: { kind: 'absent', why: 'it has ended', hasEnded: true } });
const mainRuns = [look(0, { mains: MAIN }), look(5_000, { mains: MAIN })];

function check(title: string, ask: Ask, rows: readonly Row[]): void {
  test.each<Row>(rows)(`${title} %s`, (_, at, rules = {}, looks = usual) => {
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

check(
  'the deadline of a Fluentd that is not there',
  (seen, rules) => deadlines.absenceDeadline(begin(1_000), seen, rules),
  [
    ['is the start timeout', 601_000],
    ['may be off', NEVER, { startTimeout: 'off' }],
    ['is the grace period after a signal', 27_000, {}, signalled],
    ['is over at a second signal', OVER, {}, signalledTwice],
    ['is the settle time where nobody starts it again', 3_000, { settle: 2_000 }, ended],
  ],
);

check('the deadline of the quiet window', deadlines.quietAt, [
  ['is counted from the last movement', 65_000],
  ['may be off', NEVER, { quiet: 'off' }],
]);

check('the deadline of main', deadlines.mainEndAt, [
  ['that was never seen is the start timeout', 600_000],
  ['that is gone is `doneProcessGone`', 9_000, {}, [...mainRuns, look(7_000, { mains: [] })]],
  ['that runs is none', NEVER, {}, mainRuns],
]);

check('the deadline of the next trigger', deadlines.triggerAt, [
  ['is the quiet window', 65_000],
  ['is what comes first', 30_000, { doneProcess: true, startTimeout: 30_000 }],
  ['is none that is over', 65_000, { doneProcess: true, startTimeout: 20_000 }],
]);

test.each([
  ['the end of main', 10_000, 12_000],
  ['a movement after that', 1_000, 7_000],
])('the time in which in_tail may still deliver a last line counts from %s', (_, at, end) => {
  expect(deadlines.finishEnd(at, seen(usual))).toBe(end);
});

test('records that are kept come out by themselves two ticks after the time of their plugin', () => {
  const { progress, ...known } = seen(usual);
  const left = [{ kind: 'kept', where: 'concat', records: 1, emitsAfter: 60_000 }] as const;
  expect(deadlines.keptUntil(HTTP, { ...known, progress: { ...progress, left } })).toBe(67_000);
});

check('the deadline of a drain', drainBy(HTTP), [
  ['is the drain timeout', 310_000],
  ['is the grace period where a signal came later', 27_000, {}, signalled],
  ['is its own where that comes first', 15_000, { drainTimeout: 5_000 }, signalled],
]);

check('the deadline of a drain by a signal', drainBy(TERM), [
  ['is the grace period, less the time to stop', 27_000, {}, signalled],
  ['is not the drain timeout', 27_000, { drainTimeout: 5_000 }, signalled],
  ['keeps half of a short grace period for the stop', 16_000, { grace: 8_000 }, signalled],
  ['keeps what the kubelet gives for the stop in an ending Pod', 35_000, { podEnds: true }, signalled],
]);

check('the deadline of the last flush', (seen, rules) => deadlines.lastFlushAt(HTTP, seen, rules), [
  ['is 10 s before that of the drain', 300_000],
  ['is half way in a short drain', 14_000, { drainTimeout: 8_000 }],
  ['counts from the signal', 19_500, {}, signalled],
]);

check('the deadline of a return', (seen, rules) => deadlines.returnDeadline(HTTP, seen, rules), [
  ['is none while Fluentd is there', NEVER],
  ['is the settle time', 22_000, {}, away],
  ['is never later than that of the drain', 21_000, { drainTimeout: 11_000 }, away],
]);

check('the deadline of a stop', stopBegun(15_000), [
  ['is the stop timeout', 135_000],
  ['is the grace period after a signal', 37_000, {}, signalled],
  ['is a second earlier in an ending Pod, to tell the outcome', 36_000, { podEnds: true }, signalled],
]);

check('the deadline of a stop', stopBegun(36_000), [
  ['leaves the time kept for it, also late in the grace period', 46_000, {}, signalled],
]);

const beat = { by: 'heartbeat', at: 10_000 } as const;
const byBeat = looksWith({ requests: [beat] });
const doneAt = (at: number) => ({ by: 'done-file', at }) as const;
const postedLater = looksWith({ requests: [{ by: 'http', at: 18_000 }] });
const doneLater = looksWith({ requests: [doneAt(19_500)] });
test.each<[string, number, Trigger, number?, (readonly Snapshot[])?]>([
  ['the settle time after the trigger', 12_000, HTTP],
  ['the settle time after a later movement', 7_000, { ...HTTP, at: 0 }],
  ['the settle time after a later call by HTTP', 20_000, TERM, OVER, postedLater],
  ['the settle time after the heartbeat, which does not end with main', 12_000, beat, OVER, byBeat],
  ['when no line is on its way any more, where that is later', 40_000, HTTP, 40_000],
  ['at once, where main has ended by a later request', 3_000, { ...TERM, at: 19_000 }, 3_000, doneLater],
])('everything read is believed %s', (_, at, trigger, busyUntil = OVER, looks = usual) => {
  const known = seen(looks);
  expect(settleEnd(trigger, { ...known, progress: { ...known.progress, busyUntil } }, policy())).toBe(at);
});

const FILE = { hasDoneFile: true, quiet: 'off' } as const;
const PROCESS = { doneProcess: true, quiet: 'off' } as const;
const mainWent = [...mainRuns, look(20_000, { mains: [], requests: [signal] })];
test.each<[string, number | undefined, Partial<Policy>, (readonly Snapshot[])?, Trigger?]>([
  ['for ever where main has a file', NEVER, FILE],
  [
    'for ever while its process runs',
    NEVER,
    PROCESS,
    [...mainRuns, look(20_000, { mains: MAIN, requests: [signal] })],
  ],
  ['while its process has only just gone', NEVER, PROCESS, mainWent],
  [
    'not where its process counts as ended too late',
    undefined,
    { ...PROCESS, doneProcessGone: 360_000 },
    mainWent,
  ],
  [
    'not where its process counts as ended as the drain must end',
    undefined,
    { ...PROCESS, doneProcessGone: 7_000 },
    mainWent,
  ],
  ['not for a process that was never there', undefined, PROCESS],
  ['only for the quiet window', 65_000, { ...FILE, quiet: 60_000 }],
  ['not where nothing tells it', undefined, { quiet: 'off' }],
  ['not once it is told', undefined, FILE, looksWith({ requests: [signal, doneAt(19_500)] })],
  ['not by a Fluentd that has lost its supervisor', undefined, FILE, usual, { by: 'deserted', at: 10_000 }],
])("after SIGTERM main's end is waited for %s", (_, at, rules, looks = signalled, trigger = TERM) => {
  expect(mainAwaitedUntil(trigger, seen(looks, policy(rules)), policy(rules))).toBe(at);
});

function looksWith(last: Partial<Snapshot>): readonly Snapshot[] {
  const moved = sized(100);
  const before = [entry({ position: 90 }), fileOf(entry())] as const;
  return [snapshot(0, [before]), snapshot(5_000, [moved]), snapshot(20_000, [moved], last)];
}

function look(at: number, changes: Partial<Snapshot>): Snapshot {
  return snapshot(at, [[entry()]], changes);
}
