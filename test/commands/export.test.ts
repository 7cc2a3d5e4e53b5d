import { expect, test } from 'vitest';
import { exportRoutes, unknownLag } from '../../src/commands/export.ts';
import { LastLook } from '../../src/commands/listen.ts';
import { Rates } from '../../src/core/inspect/rates.ts';
import type { Inspected } from '../../src/core/metrics/metrics.ts';
import { BROKEN, unreadable } from '../core/worlds.ts';
import { POS } from '../support/builders.ts';
import { foundOf, Looks } from '../support/overviews.ts';

test('the last look answers, and nothing before it or long after it', () => {
  let now = 0;
  const lastLook = new LastLook<Inspected>(() => now, 75_000);
  const { get, post } = exportRoutes(lastLook, 0);
  const asked = () => {
    const { isWell, body } = get['/metrics']?.() ?? {};
    return { isWell, body: String(body) };
  };
  expect(asked()).toMatchObject({ isWell: false, body: 'no look yet\n' });
  const found = new Looks(new Rates()).look(0, { '/a.log': { size: 9, position: 4 } });
  lastLook.looked({ found, took: 3, looks: 1 });
  expect(asked()).toMatchObject({ isWell: true, body: expect.stringMatching(/^posidle_lag_bytes 5$/m) });
  now = 75_001;
  expect(asked()).toMatchObject({ isWell: false, body: 'the last look is too long ago\n' });
  expect(post).toBeUndefined();
});

test.each([
  ['nothing is said', foundOf({ '/a.log': { size: 4, position: 4 } }), undefined],
  ['a pos file is named', foundOf({}, unreadable('EACCES')), `${POS}: it cannot be read: EACCES`],
  [
    'a glob is named',
    foundOf({}, { posFiles: [{ path: '/*.pos', kind: 'missing' }] }),
    '/*.pos: no file matches it',
  ],
  ['lines are named', foundOf({}, BROKEN), `${POS}: it has lines that cannot be parsed`],
  [
    'one of several files is named',
    foundOf({ '/a': { size: null, position: 1 }, '/b': { size: null, position: 1 } }),
    'the lag of /a is unknown (missing) (and 1 more)',
  ],
])('of the reasons for an unknown lag %s', (_, found, told) => {
  expect(unknownLag(found)).toBe(told);
});
