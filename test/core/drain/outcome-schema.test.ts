import { expect, test } from 'vitest';
import { outcomeOf } from '../../../src/core/drain/outcome.ts';
import type { End } from '../../../src/core/drain/state.ts';
import { ABSENT, policy, seen, snapshot } from '../../support/builders.ts';
import { schemaIn } from '../../support/json-schema.ts';
import { output } from '../../support/said.ts';
import { gone } from '../../support/witnesses.ts';
import { sized } from '../worlds.ts';

const { schema: SCHEMA, faultsIn } = schemaIn('src/core/drain/outcome.schema.json');

const COUNTED = output({
  receipt: { took: 9, left: 0, delivered: 9, secondary: 0, aside: 0, dropped: 0, held: 0 },
});

const { enum: ENDS = [] } = SCHEMA.properties?.['end'] ?? {};

function outcome(kind: End['kind'], isRead: boolean) {
  const end = { kind, why: 'why' } as End;
  const result = { trigger: { by: 'quiet', at: 0 }, pending: undefined } as const;
  const facts = {
    fluentd: ABSENT,
    reports: isRead ? { at: 9_000, witnesses: [gone({ lines: 9, ends: [COUNTED] })] } : undefined,
  };
  const last = snapshot(9_000, [sized(isRead ? 100 : 120)], facts);
  const durations = { watching: 1_000.4, stopping: 4_200 };
  const state = { name: 'stopped', since: 9_000, end, result } as const;
  return outcomeOf(state, { seen: seen([last]), policy: policy(), durations });
}

test.each(ENDS as readonly End['kind'][])('the outcome of %s is as its schema says', (kind) => {
  for (const isRead of [true, false])
    expect(faultsIn(JSON.parse(JSON.stringify(outcome(kind, isRead))))).toEqual([]);
});

test('the schema takes no other outcome', () => {
  const good = JSON.parse(JSON.stringify(outcome('stopped', false))) as object;
  expect(faultsIn({ ...good, version: 2 })).toEqual(['version: 2']);
  expect(faultsIn({ ...good, outcome: 'undrained' })).toEqual(['outcome: "undrained"']);
  const durationsMs = { draining: 0.5 };
  expect(faultsIn({ ...good, durationsMs })).toEqual(['durationsMs.draining: 0.5']);
  expect(faultsIn({ ...good, drained: true })).toEqual(['drained: unknown']);
  expect(faultsIn({ version: 1 })).toEqual(['outcome: missing']);
});
