import { expect, test } from 'vitest';
import { exportRoutes, UnknownLag } from '../../src/commands/export.ts';
import { LookBoard } from '../../src/commands/listen.ts';
import { Rates } from '../../src/core/inspect/rates.ts';
import { GONE } from '../../src/core/look/progress-from-files.ts';
import type { Inspected } from '../../src/core/metrics/metrics.ts';
import { unreadable } from '../core/worlds.ts';
import { POS } from '../support/builders.ts';
import { foundOf, Looks } from '../support/overviews.ts';

test('the last look answers, and nothing before it or long after it', () => {
  let now = 0;
  const board = new LookBoard<Inspected>(() => now, 75_000);
  const { get, post } = exportRoutes(board, 0);
  const asked = () => {
    const { isWell, body } = get['/metrics']?.() ?? {};
    return { isWell, body: String(body) };
  };
  expect(asked()).toMatchObject({ isWell: false, body: 'no look yet\n' });
  const found = new Looks(new Rates()).look(0, { '/a.log': { size: 9, position: 4 } });
  board.looked({ found, took: 3, looks: 1 });
  expect(asked()).toMatchObject({ isWell: true, body: expect.stringMatching(/^posidle_lag_bytes 5$/m) });
  now = 75_001;
  expect(asked()).toMatchObject({ isWell: false, body: 'the last look is too long ago\n' });
  expect(post).toEqual({});
});

function listening() {
  const said: string[] = [];
  const level = (name: string) => (_: object, text: string) => void said.push(`${name} ${text}`);
  const log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') };
  return { log, said };
}

test('an unknown lag is logged when it begins and when it ends, not at each look', () => {
  const { log, said } = listening();
  const unknown = new UnknownLag(log);
  const well = foundOf({ '/a.log': { size: 4, position: 4 } });
  const closed = foundOf({}, unreadable('permission denied'));
  const globs = foundOf({}, { posFiles: [{ path: '/log/*.pos', kind: 'missing' }] });
  for (const found of [well, closed, closed, well, globs]) unknown.looked(found);
  expect(said).toEqual([
    `warn lag unknown: ${POS}: it cannot be read: permission denied`,
    `info no longer: ${POS}: it cannot be read: permission denied`,
    'warn lag unknown: /log/*.pos: no file matches it',
  ]);
});

test('files with one reason are one line with a count, and files without a path have one, too', () => {
  const { log, said } = listening();
  const posFiles = Array.from({ length: 13 }, (_, at) => ({ path: `/${at}.pos`, kind: 'missing' as const }));
  const unknown = new UnknownLag(log);
  unknown.looked(foundOf({}, { posFiles }));
  unknown.looked(foundOf({ '/a': { size: null, position: 1 }, '/b': { size: null, position: 1 } }));
  expect(said).toEqual([
    'warn lag unknown: /0.pos (and 12 more): it is not there',
    `warn lag unknown: /a (and 1 more): ${GONE}`,
    'info no longer: /0.pos (and 12 more): it is not there',
  ]);
});

test('ten of very many reasons are told, and the others counted', () => {
  const { log, said } = listening();
  const posFiles = Array.from({ length: 13 }, (_, at) => ({
    ...{ path: `/${at}.pos`, kind: 'unreadable' as const },
    error: `${at}`,
  }));
  new UnknownLag(log).looked(foundOf({}, { posFiles }));
  expect(said).toHaveLength(11);
  expect(said.at(-1)).toBe('warn lag unknown: 3 more reasons');
});
