import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../src/core/drain/policy.ts';
import { begin, type Draining, type State } from '../../../src/core/drain/state.ts';
import { step } from '../../../src/core/drain/step.ts';
import type { FluentdReading } from '../../../src/core/fluentd/processes.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { ABSENT, entry, fileOf, policy, row, running, seen, snapshot } from '../../support/builders.ts';

const WATCHING = { name: 'watching', since: 0 } as const;
const DRAINING: Draining = {
  name: 'draining',
  since: 0,
  trigger: { by: 'http', at: 0 },
  completed: false,
  flush: undefined,
  emptyAt: undefined,
  closingAt: undefined,
};
const REQUESTS = { requests: [{ by: 'http', at: 1 }] } as const;

/** `fluentd` is what the looks find, one after the other. */
function decided(
  state: State,
  at: number,
  fluentd: readonly FluentdReading[],
  { rules = {}, look = {} }: { readonly rules?: Partial<Policy>; readonly look?: Partial<Snapshot> } = {},
) {
  const file = [entry(), fileOf(entry(), 300)] as const;
  const looks = fluentd.map((found, index) =>
    snapshot(index < fluentd.length - 1 ? 0 : at, [file], { fluentd: found, ...look }),
  );
  return step(state, seen(looks), policy(rules));
}

describe('a Fluentd that is not there', () => {
  const never = [ABSENT, ABSENT];

  test('is waited for until the start timeout, also when a call has come', () => {
    expect(decided(begin(0), 9_000, never, { look: REQUESTS })).toMatchObject({
      state: begin(0),
      wakeAt: 600_000,
    });
    expect(decided(begin(0), 600_000, never).state).toMatchObject({
      end: { kind: 'no-fluentd', why: 'no fluentd runs' },
    });
  });

  test('is missed by its parent at once', () => {
    expect(decided(begin(0), 9_000, never, { rules: { parent: true } }).state).toMatchObject({
      end: { kind: 'no-fluentd' },
    });
  });

  test('and was there before is drained when a call comes', () => {
    expect(decided(begin(0), 9_000, [running(), ABSENT], { look: REQUESTS }).state.name).toBe('draining');
  });

  test('while it is drained may come back within the settle time', () => {
    const gone = [running(), ABSENT];
    expect(decided(DRAINING, 9_000, gone).state.name).toBe('draining');
    expect(decided(WATCHING, 9_000, gone, { rules: { parent: true } }).state).toMatchObject({
      end: { kind: 'ended-by-itself' },
      result: undefined,
    });
  });
});

test.each<[string, State, number, string]>([
  ['are told apart for 10 s', begin(0), 9_999, 'waiting'],
  ['are refused then', begin(0), 10_000, 'stopped'],
  ['are refused at once where one was known', WATCHING, 9_999, 'stopped'],
])('several fluentds %s', (_, state, at, name) => {
  const two = { kind: 'ambiguous', candidates: [row(), row({ pid: 9 })] } as const;
  const next = decided(state, at, [two, two]);
  expect(next.state.name).toBe(name);
  expect(next.wakeAt).toBe(name === 'waiting' ? 10_000 : undefined);
});

test.each([
  ['may become one for 10 s', 5_000, 14_999, 'waiting', 15_000],
  ['is refused then', 5_000, 15_000, 'stopped', undefined],
  ['is refused at once where it was named by its pid', undefined, 1, 'stopped', undefined],
])('a process that is no fluentd %s', (_, since, at, name, wakeAt) => {
  const shell = { kind: 'foreign', row: row({ argv: ['sh'] }), since } as const;
  expect(decided(begin(0), at, [shell, shell])).toMatchObject({ state: { name }, wakeAt });
});

test('a Fluentd that posidle may not signal leaves what a drain had found, and before one nothing', () => {
  const foreign = running({ permitted: false });
  expect(decided(DRAINING, 9_000, [foreign, foreign]).state).toMatchObject({
    end: { kind: 'not-permitted' },
    result: { trigger: DRAINING.trigger, gate: { name: 'unread' } },
  });
  expect(decided(WATCHING, 9_000, [foreign, foreign]).state).toMatchObject({ result: undefined });
});
