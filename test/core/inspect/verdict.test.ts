import { expect, test } from 'vitest';
import { inspectionOf } from '../../../src/core/inspect/inspection.ts';
import { Paces } from '../../../src/core/inspect/paces.ts';
import { type Verdict, verdictsOf } from '../../../src/core/inspect/verdict.ts';
import { Looks, unfound, type Written } from '../../support/overviews.ts';

const LOG = '/app.log';

/** The live view of one log, with one look a second. */
function views(looks: readonly Written[]) {
  const view = new Looks(new Paces());
  return looks.map((file, second) => inspectionOf(view.look(second * 1_000, { [LOG]: file })));
}

const verdicts = (looks: readonly Written[]) => views(looks).map(({ verdict }) => verdict);
const each = (count: number, look: (second: number) => Written) =>
  Array.from({ length: count }, (_, second) => look(second));

const [READ, LEFT, GONE] = [5, 9, null].map((size) => ({ size, position: 5 })) as [Written, Written, Written];
const tooFast = each(60, (at) => ({ size: at * 100, position: at * 50 }));
const inTime = each(60, (at) => ({ size: at * 100, position: Math.max(0, at - 8) * 100 }));
const still = each(20, () => ({ size: 100, position: 50 }));

test.each<[string, Verdict['is'], readonly Written[]]>([
  ['is read within ten seconds, however much is written,', 'ok', inTime],
  ['catches up, however much is left,', 'ok', each(60, (at) => ({ size: 10_000 + at, position: at * 100 }))],
  ['has an unfinished last line', 'ok', each(60, () => ({ ...LEFT, newlineLeft: false }))],
  ['is written faster than it is read', 'falling-behind', tooFast],
  ['stands still with bytes left', 'stalled', each(20, (at) => ({ size: 100 + at, position: 50 }))],
  ['stood still, and is read again,', 'ok', [...still, { size: 130, position: 130 }]],
  ['is gone, and nobody saw its size,', 'unknown', [GONE]],
  ['goes away read', 'ok', [READ, GONE]],
  ['goes away with bytes that have just come', 'ok', [READ, LEFT, GONE]],
  ['goes away after bytes have waited for too long', 'losing', [...each(20, () => LEFT), GONE]],
])('what %s is %s in the end', (_, verdict, looks) => {
  expect(verdicts(looks).at(-1)).toBe(verdict);
});

test('a file that is written faster than it is read falls behind when bytes have waited for ten seconds', () => {
  const found = verdicts(tooFast);
  const first = found.indexOf('falling-behind');
  // At second 20 what was written at second 10 is being read.
  expect(first).toBeGreaterThanOrEqual(20);
  expect(first).toBeLessThanOrEqual(24);
  expect(new Set(found.slice(0, first))).toEqual(new Set(['ok']));
  expect(new Set(found.slice(first))).toEqual(new Set(['falling-behind']));
});

test('the lag in seconds is the age of the oldest unread byte, and is in the JSON', () => {
  const grows = each(20, (at) => ({ size: 110 + at, position: 100 }));
  const found = views([{ size: 100, position: 100 }, ...grows]);
  expect(found.map(({ lagSeconds }) => lagSeconds)).toEqual([...found.keys()]);
  expect(found.at(-1)?.verdict).toBe('stalled');
});

test('a file that is not found is ok for two intervals of in_tail, and stalled after them', () => {
  const wait = (seconds: number) => {
    const view = new Looks(new Paces());
    view.look(0, {}, unfound({ '/new': 9 }));
    return verdictsOf(view.look(seconds * 1_000, {}, unfound({ '/new': 9 })))?.worst;
  };
  expect(wait(120)?.is).toBe('ok');
  expect(wait(121)?.is).toBe('stalled');
  expect(wait(121)?.why).toMatch(/^in_tail has not found \/new for /);
});

test('each file is counted once by its own verdict', () => {
  const view = new Looks(new Paces());
  const files = {
    '/still': { size: 9, position: 5, age: 20_000 },
    '/read': { size: 5, position: 5 },
    '/gone': { size: null, position: 5 },
  };
  expect(verdictsOf(view.look(0, files, { writtenAgo: 20_000 }))?.counts).toEqual({
    ...{ ok: 1, stalled: 1, unknown: 1 },
    ...{ 'falling-behind': 0, losing: 0 },
  });
});

test('a single look has no verdict', () => {
  expect(verdictsOf(new Looks().look(0, {}))).toBeUndefined();
});
