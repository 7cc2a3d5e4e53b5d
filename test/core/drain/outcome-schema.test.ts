import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { outcomeOf } from '../../../src/core/drain/outcome.ts';
import type { End } from '../../../src/core/drain/state.ts';
import { ABSENT, policy, seen, snapshot } from '../../support/builders.ts';
import { output } from '../../support/said.ts';
import { gone } from '../../support/witnesses.ts';
import { sized } from '../worlds.ts';

interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

const SCHEMA = JSON.parse(readFileSync('src/core/drain/outcome.schema.json', 'utf8')) as Schema;

/** The places where a value breaks the schema. Knows only the JSON Schema keywords that ours uses. */
function faultsIn(value: unknown, given: Schema = SCHEMA, at = 'outcome'): readonly string[] {
  const schema =
    given.$ref === undefined ? given : (SCHEMA.$defs?.[given.$ref.split('/').at(-1) ?? ''] ?? {});
  const types = [schema.type ?? []].flat();
  const isWrong =
    (schema.const !== undefined && value !== schema.const) ||
    (schema.enum !== undefined && !schema.enum.includes(value)) ||
    (types.length > 0 && !types.some((type) => typesOf(value).includes(type)));
  if (isWrong) return [`${at}: ${JSON.stringify(value)}`];
  if (Array.isArray(value)) return value.flatMap((item) => faultsIn(item, schema.items, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [];
  const missing = (schema.required ?? []).filter((name) => !(name in value));
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const known = schema.properties?.[name] ?? schema.additionalProperties ?? {};
    return known === false ? [`${at}.${name}: unknown`] : faultsIn(field, known, `${at}.${name}`);
  });
  return [...missing.map((name) => `${at}.${name}: missing`), ...fields];
}

function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

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
  expect(faultsIn({ ...good, version: 2 })).toEqual(['outcome.version: 2']);
  expect(faultsIn({ ...good, outcome: 'undrained' })).toEqual(['outcome.outcome: "undrained"']);
  const durationsMs = { draining: 0.5 };
  expect(faultsIn({ ...good, durationsMs })).toEqual(['outcome.durationsMs.draining: 0.5']);
  expect(faultsIn({ ...good, drained: true })).toEqual(['outcome.drained: unknown']);
  expect(faultsIn({ version: 1 })).toEqual(['outcome.outcome: missing']);
});
