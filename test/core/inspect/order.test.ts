import { expect, test } from 'vitest';
import { filesIn } from '../../../src/core/inspect/found.ts';
import { byLag } from '../../../src/core/inspect/order.ts';
import { foundOf, type Written } from '../../support/overviews.ts';

const filesOf = (files: Readonly<Record<string, Written>>) => filesIn(foundOf(files));
const names = (files: ReturnType<typeof filesOf>) => files.map(({ path }) => path).join(' ');

const files = filesOf({
  '/c': { size: 100, position: 100 },
  '/a': { size: 100, position: 10 },
  '/gone': { size: null, position: 10 },
  '/b': { size: 50, position: 20 },
});

test('an unknown lag comes first, then the largest one', () => {
  expect(names(byLag(files))).toBe('/gone /a /b /c');
});
