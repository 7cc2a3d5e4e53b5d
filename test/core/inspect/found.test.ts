import { expect, test } from 'vitest';
import type { Found } from '../../../src/core/inspect/found.ts';
import { jsonOf } from '../../../src/core/inspect/inspection.ts';
import type { Finding } from '../../../src/core/inspect/pos-file-diagnosis.ts';
import { Rates } from '../../../src/core/inspect/rates.ts';
import { check, summaryOf } from '../../../src/core/inspect/summary.ts';
import { STATES } from '../../../src/core/look/file-state.ts';
import { POS } from '../../support/builders.ts';
import { schemaIn } from '../../support/json-schema.ts';
import { foundOf, Looks } from '../../support/overviews.ts';
import { BROKEN, EMPTY, unfound, unreadable } from '../worlds.ts';

const READ = { size: 5, position: 5 };
const BEHIND = { size: 3_000, position: 0 };
const UNKNOWN = { size: null, position: 0 };
const TORN = { size: 8, position: 5, newlineLeft: false };
const toldOf = (found: Found) => JSON.parse(jsonOf(found));

test.each<[string, Found]>([
  ['caught up: 0 files', foundOf({})],
  ['caught up: 1 file', foundOf({ '/a': READ })],
  ['behind by 2.9 KiB in 1 of 2 files', foundOf({ '/a': BEHIND, '/b': READ })],
  ['behind by 9 B in 1 of 2 files', foundOf({ '/a': READ }, unfound(9))],
  ['caught up, except unfinished last lines of 3 B in 1 of 2 files', foundOf({ '/a': TORN, '/b': READ })],
  [
    'caught up, says Fluentd; its pos file lacks 4 B in 1 of 2 files',
    { ...foundOf({ '/a': { size: 8, position: 4 }, '/b': READ }), caughtUp: true },
  ],
  ['lag unknown for 1 of 2 files', foundOf({ '/a': UNKNOWN, '/b': READ })],
  ['behind by at least 2.9 KiB in 2 of 2 files', foundOf({ '/a': UNKNOWN, '/b': BEHIND })],
  ['lag unknown; could not read 1 pos file', foundOf({}, unreadable('EACCES'))],
  ['lag unknown; could not parse 1 line', foundOf({}, BROKEN)],
  ['lag unknown; 1 pos file is empty', foundOf({}, EMPTY)],
])('the summary is %j', (summary, found) => {
  expect(summaryOf(found)).toBe(summary);
});

const both = foundOf({ '/a': BEHIND, '/b': READ });
const oneUnknown = foundOf({ '/a': UNKNOWN, '/b': BEHIND });
const undiscovered = foundOf({}, unfound(9));

test.each<[string, Found, number, boolean, RegExp]>([
  ['no more than the limit is left', both, 3_000, true, /^behind by 2.9 KiB in 1 of 2 files$/],
  ['more is left', both, 2_999, false, /^behind by 2.9 KiB in 1 of 2 files \(limit 2.9 KiB\)$/],
  ['only an unfinished line is left', foundOf({ '/a': TORN }), 0, true, /^caught up, except unfinished/],
  ['a file is undiscovered', undiscovered, 8, false, /^behind by 9 B in 1 of 1 file \(limit 8 B\)$/],
  ['the lag of a file is unknown', oneUnknown, 1e9, false, /^the lag of .* is unknown \(.*\); behind by at/],
  ['a line cannot be parsed', foundOf({}, BROKEN), 1e9, false, /^lag unknown; could not parse 1 line$/],
  ['a pos file cannot be read', foundOf({}, unreadable('EACCES')), 1e9, false, /: EACCES; lag unknown;/],
])('a check where %s', (_, found, most, passed, reason) => {
  expect(check(found, most)).toEqual({ passed, reason: expect.stringMatching(reason) });
});

test('an inspection has the fields of the contract, in its order, and no more', () => {
  const files = { '/a': { size: 160, position: 100 }, '/gone': { size: null, position: 3 } };
  const { doubts, ...rest } = toldOf(foundOf(files, unfound(9, '/late')));
  expect(doubts).toMatchObject({
    ...{ count: 2, bytes: 0 },
    worst: [{ kind: 'no-witness' }, { kind: 'nobody-saw-it-read', about: '/gone' }],
  });
  const entries = [
    { path: '/a', position: 100, inode: '7', size: 160, lag: 60, state: 'behind' },
    { path: '/gone', position: 3, inode: '7', size: null, lag: null, state: 'missing' },
  ];
  const worst = [
    { kind: 'unread', path: '/a', bytes: 60 },
    { kind: 'unfound', path: '/late', bytes: 9 },
  ];
  const fields = {
    posFiles: [{ path: POS, entries, unparsable: [] }],
    undiscovered: [{ path: '/late', size: 9 }],
    lag: null,
    knownLag: 69,
    unknownFiles: 1,
    caughtUp: false,
    left: { count: 2, bytes: 69, worst },
  };
  expect(JSON.stringify(rest)).toBe(JSON.stringify(fields));
});

test('an inspection tells what is beside the entries of a pos file, and why it cannot be read', () => {
  const findings = [{ what: 'dead', count: 100, why: 'many' } as const];
  expect(toldOf(foundOf({}, {}, findings)).posFiles).toMatchObject([{ findings }]);
  expect(toldOf(foundOf({}, unreadable('EACCES')))).toMatchObject({
    posFiles: [{ error: 'it cannot be read: EACCES' }],
    ...{ lag: null, caughtUp: false },
  });
});

test('waiting helps what is unread or not found, and nothing else', () => {
  const waitsFor = (found: Found) => found.waitsFor;
  expect(waitsFor(foundOf({ '/a': READ, '/b': TORN, '/gone': UNKNOWN }))).toBeUndefined();
  expect(waitsFor(foundOf({ '/a': BEHIND }))).toBe('/a: not read to its end (2.9 KiB) [unread]');
  expect(waitsFor(undiscovered)).toBe('/new: Fluentd has not found it (9 B) [unfound]');
  expect(waitsFor(foundOf({}, unreadable('EACCES')))).toBe(`${POS} cannot be read: EACCES`);
});

test('a file that left its path unread is a doubt, with what was left of it', () => {
  const looks = new Looks();
  looks.look(0, { '/a': { size: 9, position: 4 } });
  const found = looks.look(1_000, { '/a': { size: null, position: 4 } });
  const { posFiles, caughtUp, doubts } = toldOf(found);
  expect(posFiles[0]?.entries[0]).toMatchObject({ state: 'missing', size: 9, lag: 5 });
  expect(caughtUp).toBe(false);
  expect(doubts.worst[0]).toMatchObject({ kind: 'closed-unread', about: '/a', bytes: 5 });
});

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
