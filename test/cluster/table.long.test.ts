import { afterAll, beforeAll, beforeEach, describe, inject, test } from 'vitest';
import { SCENARIOS } from './bench/scenarios.ts';
import { WAYS } from './bench/strategies.ts';
import { applyPolicy, deletePolicy } from './policy.ts';
import { playRow } from './row.ts';

beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));
beforeAll(async () => {
  if (inject('noCluster') === '') await applyPolicy();
});
afterAll(async () => {
  if (inject('noCluster') === '') await deletePolicy();
});

describe.each(WAYS)('posidle comes by $title', { concurrent: true }, (way) => {
  test.each(SCENARIOS)('no line is lost without a report: $title', (scenario) => playRow(scenario, way));
});
