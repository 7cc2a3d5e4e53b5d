import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortByBytes } from '../../../src/core/pos-file/row-sort.ts';
import { bytesOf, pathBytes, RUNS } from '../../support/arbitraries.ts';

/** A few beginnings, so that many have one in common. */
const name = fc
  .tuple(fc.constantFrom('/var/log/', '/var/', ''), fc.oneof(pathBytes, fc.constantFrom('a', 'ab', 'b')))
  .map((parts) => bytesOf(...parts));

test('rows are sorted by their bytes, a beginning before what goes on, and equal ones as they stood', () => {
  fc.assert(
    fc.property(fc.array(name, { maxLength: 200 }), (names) => {
      const rows = Uint32Array.from(names.keys());
      const bytes = (row: number) => names[row] as Uint8Array;
      const expected = Array.from(rows).sort((a, b) => Buffer.compare(bytes(a), bytes(b)) || a - b);
      expect(Array.from(sortByBytes(rows, (row, depth) => bytes(row)[depth] ?? -1))).toEqual(expected);
    }),
    RUNS,
  );
});

test.each([
  ['the same', () => 'x'.repeat(10_000)],
  ['one a beginning of the next', (row: number) => 'x'.repeat(row)],
])('many long names are sorted, each %s', (_, nameOf) => {
  const names = Array.from({ length: 300 }, (_, row) => bytesOf(nameOf(row)));
  const rows = Uint32Array.from(names.keys()).reverse();
  sortByBytes(rows, (row, depth) => names[row]?.[depth] ?? -1);
  expect(rows).toEqual(Uint32Array.from(names.keys()));
});
