import { expect, test } from 'vitest';
import { jsonOf } from '../../../src/core/inspect/inspection.ts';
import type { Finding } from '../../../src/core/inspect/pos-file-diagnosis.ts';
import { Rates } from '../../../src/core/inspect/rates.ts';
import { STATES } from '../../../src/core/look/file-state.ts';
import { schemaIn } from '../../support/json-schema.ts';
import { Looks } from '../../support/overviews.ts';

const { schema, faultsIn } = schemaIn('src/core/inspect/inspection.schema.json');

test('the schema of an inspection names each state of a file', () => {
  const states = schema.$defs?.['entry']?.properties?.['state']?.enum ?? [];
  expect(states.toSorted()).toEqual(STATES.toSorted());
});

test('it takes an inspection of repeated looks with each finding, and none with a field that is wrong, unknown or missing', () => {
  const kinds = { damaged: 0, duplicated: 0, dead: 0 } satisfies Record<Finding['what'], number>;
  const findings = (Object.keys(kinds) as (keyof typeof kinds)[]).map((what) => ({
    what,
    count: 1,
    why: what,
  }));
  const found = new Looks(new Rates()).look(0, { '/a.log': { size: 8, position: 4 } }, {}, findings);
  const told = JSON.parse(jsonOf(found)) as object;
  expect(faultsIn(told)).toEqual([]);
  expect(faultsIn({ ...told, lag: 0.5 })).toEqual(['lag: 0.5']);
  expect(faultsIn({ ...told, drained: true })).toEqual(['drained: unknown']);
  expect(faultsIn({ ...told, caughtUp: undefined })).toEqual(['caughtUp: undefined']);
  expect(faultsIn({ ...told, posFiles: [{ path: '/a' }] })).toEqual([
    'posFiles[].entries: missing',
    'posFiles[].unparsable: missing',
  ]);
});
