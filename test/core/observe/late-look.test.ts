import { expect, test } from 'vitest';
import { step } from '../../../src/core/drain/step.ts';
import { observeLate } from '../../../src/core/observe/late-look.ts';
import { entry, fileOf, POS, policy, running, seen, snapshot, subject } from '../../support/builders.ts';

const FLUENTD = running();
const now = (at: number) => ({ at, fluentd: FLUENTD, requests: [] });
const behind = seen([snapshot(0, [[entry({ position: 5 }), fileOf(entry(), 300)]])]);
const late = observeLate(behind, now(70_000), subject());

test('while a look takes too long, what was seen before is all that is known', () => {
  expect(late).toMatchObject({ at: 70_000, files: behind.files, isLate: true, isWhole: false });
  expect(late.readSince).toBeUndefined();
});

test('a look that takes too long leaves the pos file unknown, and names it', () => {
  const why = expect.stringMatching(/^was not looked at in time/);
  expect(late.unknown).toEqual([{ path: POS, why, empty: false }]);
  expect(observeLate(behind, now(0), { posFiles: [] }).unknown).toMatchObject([{ path: 'the pos file' }]);
});

test('a drain does nothing on a look that takes too long, until just before its deadline', () => {
  const trigger = { by: 'http', at: 60_000 } as const;
  const draining = {
    name: 'draining',
    since: 60_000,
    trigger,
    ...{ completed: false, flush: undefined, emptyAt: undefined, closingAt: undefined },
  } as const;
  const rules = policy({ drainTimeout: 30_000 });
  const { state, actions, wakeAt } = step(draining, late, rules);
  expect({ state, actions, wakeAt }).toEqual({ state: draining, actions: [], wakeAt: 89_750 });
});
