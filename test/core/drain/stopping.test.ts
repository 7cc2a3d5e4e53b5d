import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { begin, type State } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { FluentdReading } from '../../../src/core/progress/fluentd-reading.ts';
import {
  ABSENT,
  draining,
  entry,
  policy,
  REMOTE,
  row,
  running,
  seen,
  snapshot,
} from '../../support/builders.ts';
import { sized } from '../worlds.ts';

const AT = 9_000;
const WATCHING = { name: 'watching', since: 0 } as const;
const successor = running({ supervisor: { pid: 5_000, startTime: '9' } });
const stopping = {
  name: 'stopping',
  since: 0,
  trigger: { by: 'http', at: 0 },
  pending: undefined,
  toldAt: 0,
  told: [4242],
} as const;

/** `fluentd` is what the looks find, one after the other. */
function decided(
  state: State,
  at: number,
  fluentd: readonly FluentdReading[],
  { rules = {}, look = {} }: { readonly rules?: Partial<Policy>; readonly look?: Partial<Snapshot> } = {},
) {
  const looks = fluentd.map((found, index) =>
    snapshot(index < fluentd.length - 1 ? 0 : at, [sized(300)], { fluentd: found, ...look }),
  );
  return step(state, seen(looks), policy({ stopTimeout: 60_000, ...rules }));
}

const stepped = (state: State, fluentd: FluentdReading, at = AT, rules: Partial<Policy> = {}) =>
  decided(state, at, [running(), fluentd], { rules });

describe('a Fluentd that was told to stop', () => {
  const [STOP, KILL] = [{ do: 'stop' }, { do: 'kill' }];

  test.each<[string, FluentdReading, number, readonly object[], object?]>([
    ['is not told again', running(), AT, []],
    ['and whose successor runs on: it is told to stop, too', successor, AT, [STOP]],
    ['and whose successor was told too is not told again', successor, AT, [], { told: [4242, 5_000] }],
    ['by a call: what shows of it later is not told', running(), AT, [], { told: [] }],
    ['by a call: is called again when 5 s have passed', REMOTE, 5_000, [STOP]],
    ['by a call: is not called again before', REMOTE, 4_999, []],
    ['is killed when the time to stop is over', running(), 60_000, [KILL]],
    ['is not killed before', running(), 59_999, []],
  ])('%s', (_, fluentd, at, actions, changes = {}) => {
    const next = stepped({ ...stopping, ...changes }, fluentd, at);
    expect(next.actions).toEqual(actions);
    if (at < 60_000) expect(next.wakeAt).toBe(60_000);
  });

  test('and is told again has the time of that order', () => {
    expect(stepped(stopping, REMOTE, 5_000).state).toMatchObject({ toldAt: 5_000 });
    expect(stepped(stopping, successor).state).toMatchObject({ toldAt: AT, told: [4242, 5_000] });
  });

  test('and is killed has the time since the signal', () => {
    const late = { ...stopping, since: 10_000 };
    expect(stepped(late, running(), 70_000).whyChanged).toBe('Fluentd still runs 60 s after the stop signal');
    expect(stepped(late, running(), 69_999).whyChanged).toBeUndefined();
  });

  test('but cannot be killed from here is out of reach', () => {
    expect(stepped(stopping, REMOTE, 70_000).state).toMatchObject({ end: { kind: 'survived' } });
  });

  test('because its supervisor had ended by itself is reported so', () => {
    const deserted = { ...stopping, trigger: { by: 'deserted', at: 0 } } as const;
    expect(stepped(deserted, ABSENT).state).toMatchObject({ end: { kind: 'ended-by-itself' } });
  });

  test('and is gone has stopped', () => {
    const result = { trigger: stopping.trigger, pending: stopping.pending };
    expect(stepped(stopping, ABSENT).state).toMatchObject({ end: { kind: 'stopped' }, result });
  });

  test('and was killed is gone, or is given up after 10 s', () => {
    const killing = { ...stopping, name: 'killing' } as const;
    expect(stepped(killing, ABSENT).state).toMatchObject({ end: { kind: 'killed' } });
    expect(stepped(killing, running(), 9_999)).toMatchObject({ state: { name: 'killing' }, wakeAt: 10_000 });
    expect(stepped(killing, running(), 10_000).state).toMatchObject({ end: { kind: 'survived' } });
  });
});

describe('a Fluentd that is not there', () => {
  const never = [ABSENT, ABSENT];
  const look = { requests: [{ by: 'http', at: 1 }] } as const;

  test('is waited for until the start timeout, also when a call has come', () => {
    expect(decided(begin(0), AT, never, { look })).toMatchObject({ state: begin(0), wakeAt: 600_000 });
    const { state } = decided(begin(0), 600_000, never);
    expect(state).toMatchObject({ end: { kind: 'no-fluentd', why: 'no fluentd runs' } });
  });

  test('is missed by its parent at once', () => {
    const rules = { role: 'parent' } as const;
    expect(decided(begin(0), AT, never, { rules }).state).toMatchObject({ end: { kind: 'no-fluentd' } });
    const { state } = stepped(WATCHING, ABSENT, AT, rules);
    expect(state).toMatchObject({ end: { kind: 'ended-by-itself' }, result: undefined });
  });

  test('while it is drained may come back within the settle time', () => {
    expect(stepped(draining(), ABSENT, AT).state.name).toBe('draining');
    const gone = snapshot(1_000, [[entry()]], { fluentd: ABSENT });
    const later = (at: number) => seen([snapshot(0, [[entry()]]), gone, { ...gone, at }]);
    expect(step(draining(), later(2_999), policy()).state.name).toBe('draining');
    const { state } = step(draining(), later(3_000), policy());
    const result = { trigger: draining().trigger };
    expect(state).toMatchObject({ end: { kind: 'ended-by-itself' }, result });
  });
});

test('a Fluentd that posidle may not signal ends it at once', () => {
  const foreign = running({ proof: 'not-permitted' });
  const end = { kind: 'not-permitted' };
  const { trigger } = draining();
  expect(stepped(WATCHING, foreign).state).toMatchObject({ end, result: undefined });
  expect(stepped(draining(), foreign).state).toMatchObject({ end, result: { trigger } });
});

const signalled = (...times: readonly number[]) => times.map((at) => ({ by: 'SIGTERM' as const, at }));

test.each<[string, State, number, string, number | undefined, Partial<Snapshot>?]>([
  ['are told apart for 10 s', begin(0), 9_999, 'waiting', 10_000],
  ['are refused then', begin(0), 10_000, 'stopped', undefined],
  ['are refused at once where one was known', WATCHING, 9_999, 'stopped', undefined],
  [
    'are refused when the grace period ends',
    begin(0),
    3_000,
    'stopped',
    undefined,
    { requests: signalled(1_000) },
  ],
  [
    'are refused at a second signal',
    begin(0),
    1_000,
    'stopped',
    undefined,
    { requests: signalled(900, 950) },
  ],
])('several fluentds %s', (_, state, at, name, wakeAt, look = {}) => {
  const candidates = [row({ pid: 5, argv: ['fluentd', '-c', 'a'] }), row({ pid: 6, argv: ['td-agent'] })];
  const two = { kind: 'ambiguous', candidates } as const;
  const last = decided(state, at, [two, two], { look, rules: { grace: 2_000 } });
  expect(last).toMatchObject({ state: { name }, wakeAt });
  if (name === 'stopped') expect(last.whyChanged).toMatch(/pid 5 \(fluentd -c a\), pid 6 \(td-agent\)/);
});
