import { describe, expect, test } from 'vitest';
import { filesIn } from '../../../src/core/inspect/found.ts';
import { ordered, type SortKey, SteadyOrder } from '../../../src/core/inspect/order.ts';
import { foundOf, type Written } from '../../support/overviews.ts';

const filesOf = (files: Readonly<Record<string, Written>>) => filesIn(foundOf(files));
const names = (files: ReturnType<typeof filesOf>) => files.map(({ path }) => path).join(' ');

describe('the order', () => {
  const files = filesOf({
    '/c': { size: 100, position: 100, age: 9 },
    '/a': { size: 100, position: 10 },
    '/b': { size: 50, position: 20 },
  });

  test.each<[SortKey, string]>([
    ['lag', '/a /b /c'],
    ['file', '/a /b /c'],
    ['state', '/a /b /c'],
    ['read', '/a /b /c'],
    ['size', '/c /a /b'],
    ['position', '/c /b /a'],
    ['age', '/c /a /b'],
  ])('by %s is %s', (sort, order) => {
    expect(names(ordered(files, { states: undefined, sort }))).toBe(order);
  });

  test('leaves out other states', () => {
    expect(names(ordered(files, { states: ['behind'], sort: undefined }))).toBe('/a /b');
    expect(names(ordered(files, { states: ['undiscovered'], sort: undefined }))).toBe('');
  });
});

describe('the order of a live view', () => {
  const written = (a: number, b: number, more = {}) =>
    filesOf({ '/a': { size: a, position: 0 }, '/b': { size: b, position: 0 }, ...more });
  const shown = (order: SteadyOrder, files: ReturnType<typeof filesOf>, at: number, sort: SortKey = 'lag') =>
    names(order.of(files, { states: undefined, sort }, at));

  test('holds for ten seconds, however the lags change, and what is new comes last', () => {
    const order = new SteadyOrder();
    expect(shown(order, written(9, 1), 0)).toBe('/a /b');
    expect(shown(order, written(1, 9, { '/c': { size: 99, position: 0 } }), 9_999)).toBe('/a /b /c');
    expect(shown(order, written(1, 9, { '/c': { size: 99, position: 0 } }), 10_000)).toBe('/c /b /a');
  });

  test('is another one at once when another column is asked for', () => {
    const order = new SteadyOrder();
    expect(shown(order, written(1, 9), 0)).toBe('/b /a');
    expect(shown(order, written(1, 9), 1, 'file')).toBe('/a /b');
  });
});
