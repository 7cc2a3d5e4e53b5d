import { describe, expect, test } from 'vitest';
import { placesOf, rowsOf, SORT_KEYS, type SortKey, SteadyOrder } from '../../../src/core/inspect/order.ts';
import type { InspectedRows } from '../../../src/core/inspect/rows.ts';
import { overviewOf } from '../../support/overviews.ts';

describe('the order', () => {
  const files = {
    '/c': { size: 100, position: 100, age: 9 },
    '/a': { size: 100, position: 10, age: 5 },
    '/b': { size: 50, position: 20, age: 7 },
  };

  test.each<[SortKey, string]>([
    ['lag', '/a /b /c'],
    ['file', '/a /b /c'],
    ['state', '/a /b /c'],
    ['read', '/a /b /c'],
    ['size', '/c /a /b'],
    ['position', '/c /b /a'],
    ['age', '/c /b /a'],
  ])('by %s is %s, in one pos file and over several', (sort, order) => {
    expect(SORT_KEYS).toContain(sort);
    const found = overviewOf(files);
    const [posFile] = found.posFiles;
    const rows = posFile && Array.from(rowsOf(posFile.entries, { states: undefined, sort }));
    expect(rows?.map((row) => posFile?.entries.rows.path(row)).join(' ')).toBe(order);
    const apart = Object.entries(files).map(([path, file]) => overviewOf({ [path]: file }).posFiles);
    const places = placesOf({ ...found, posFiles: apart.flat() }, { states: undefined, sort });
    const names = places.map(({ posFile, row }) => posFile.entries.rows.path(row));
    if (sort !== 'state' && sort !== 'size') expect(names.join(' ')).toBe(order);
    else expect(names[0]).toBe(order.split(' ')[0]);
  });

  test('leaves out other states', () => {
    const entries = overviewOf(files).posFiles[0]?.entries as InspectedRows;
    expect(rowsOf(entries, { states: ['behind'], sort: undefined })).toHaveLength(2);
    expect(rowsOf(entries, { states: ['undiscovered'], sort: undefined })).toHaveLength(0);
  });
});

describe('the order of a live view', () => {
  const written = (a: number, b: number, more = {}) =>
    overviewOf({ '/a': { size: a, position: 0 }, '/b': { size: b, position: 0 }, ...more });
  const shown = (order: SteadyOrder, found: ReturnType<typeof written>, at: number, sort: SortKey = 'lag') =>
    order
      .places(found, { states: undefined, sort }, at)
      .map(({ posFile, row }) => posFile.entries.rows.path(row))
      .join(' ');

  test('holds for ten seconds, however the lags change, and what is new comes last', () => {
    const order = new SteadyOrder();
    expect(shown(order, written(9, 1), 0)).toBe('/a /b');
    expect(shown(order, written(1, 9, { '/c': { size: 99, position: 0 } }), 9_999)).toBe('/a /b /c');
    expect(shown(order, written(1, 9, { '/c': { size: 99, position: 0 } }), 10_000)).toBe('/c /b /a');
  });

  test('is another one at once when another column is asked for, or the pos file is rewritten', () => {
    const order = new SteadyOrder();
    expect(shown(order, written(1, 9), 0)).toBe('/b /a');
    expect(shown(order, written(1, 9), 1, 'file')).toBe('/a /b');
    expect(shown(order, overviewOf({ '/b': { size: 9, position: 0 } }), 2, 'file')).toBe('/b');
  });
});
