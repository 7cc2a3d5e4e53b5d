import { expect, test } from 'vitest';
import { observeLate } from '../../../src/core/observe/observe.ts';
import { entry, fileOf, POS, running, seen, snapshot, subject } from '../../support/builders.ts';
import { alive } from '../../support/witnesses.ts';

const FLUENTD = running();
const now = (at: number) => ({ at, fluentd: FLUENTD, requests: [] });
const testimony = { at: 0, witnesses: [alive()] };
const behind = seen([snapshot(0, [[entry({ position: 5 }), fileOf(entry(), 300)]], { testimony })]);
const late = observeLate(behind, now(70_000), subject());

test('while a look takes too long, what was seen before is all that is known', () => {
  expect(late).toMatchObject({ at: 70_000, files: behind.files, extent: 'late', lookedAt: 70_000 });
  expect(late.readSince).toBeUndefined();
  expect([behind.witness, late.witness]).toEqual([expect.anything(), undefined]);
});

test('a look that takes too long leaves the pos file unknown, and names it', () => {
  const why = expect.stringMatching(/^was not looked at in time/);
  expect(late.unknown).toEqual([{ path: POS, why, empty: false }]);
  expect(observeLate(behind, now(0), { posFiles: [] }).unknown).toMatchObject([{ path: 'the pos file' }]);
});
