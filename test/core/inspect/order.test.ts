import { describe, expect, test } from 'vitest';
import { filesIn } from '../../../src/core/inspect/found.ts';
import { ordered, type SortKey } from '../../../src/core/inspect/order.ts';
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
