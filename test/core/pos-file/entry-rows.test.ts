import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EntryRows } from '../../../src/core/pos-file/entry-rows.ts';
import { decodePath } from '../../../src/core/pos-file/path-bytes.ts';
import { latestEntries, parsePosFile } from '../../../src/core/pos-file/pos-file.ts';
import { bytesOf, entryLine, posFileBytes, RUNS } from '../../support/arbitraries.ts';
import { posText } from '../../support/builders.ts';

describe('the entries of a pos file as rows', () => {
  test('are those that the parser finds, and so are the unparsable lines but for a torn one', () => {
    fc.assert(
      fc.property(posFileBytes, (bytes) => {
        const { entries, unparsable } = parsePosFile(bytes);
        const rows = new EntryRows(bytes);
        expect(rowsIn(rows).map((row) => rows.entry(row))).toEqual(latestEntries(entries));
        expect(rows.unparsable.filter(({ torn }) => !torn)).toEqual(unparsable);
      }),
      RUNS,
    );
  });

  test('leave the rest behind the last newline as a torn line, whatever stands in it', () => {
    fc.assert(
      fc.property(posFileBytes, (bytes) => {
        const end = bytes.lastIndexOf(0x0a) + 1;
        const text = decodePath(bytes.subarray(end));
        const line = bytes.filter((byte) => byte === 0x0a).length + 1;
        const torn = new EntryRows(bytes).unparsable.filter((unparsable) => unparsable.torn);
        expect(torn).toEqual(text === '' ? [] : [{ line, text, torn: true }]);
      }),
      RUNS,
    );
  });

  test('take each entry in a line of several, and tell such a line', () => {
    const entries = ['/a', '/b', '/c'].map((path, at) => ({ path, position: at, inode: at + 1 }));
    const merged = posText(entries).replaceAll('\n', '');
    const rows = new EntryRows(bytesOf(`${merged}\n/d\t1\t2 and more\n`));
    expect(rowsIn(rows).map((row) => rows.entry(row))).toEqual([
      { path: '/a', position: 0, inode: '1' },
      { path: '/b', position: 1, inode: '2' },
      { path: '/c', position: 2, inode: '3' },
      { path: '/d', position: 1, inode: '2' },
    ]);
    expect(rows.unparsable).toEqual([{ line: 1, text: merged, merged: true }]);
    expect(parsePosFile(rows.bytes).entries).toHaveLength(4);
  });

  test('keep their lines, however many entries stand in one', () => {
    const merged = posText(
      Array.from({ length: 200 }, (_, at) => ({ path: `/${at}`, position: 1, inode: at })),
    );
    const rows = new EntryRows(bytesOf(`${merged.replaceAll('\n', '')}\n${merged}`));
    expect(rows.path(rows.count - 1)).toBe('/199');
    expect(rowsIn(rows)).toHaveLength(200);
  });

  test('are told apart by path and inode, the last of several with both counts', () => {
    const line = fc.record({
      path: fc.constantFrom('/a', '/b', '/ab', '/日'),
      position: fc.nat(9),
      inode: fc.constantFrom('1', '2', '18446744073709551615'),
    });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const bytes = bytesOf(posText(lines));
        const { entries } = parsePosFile(bytes);
        const rows = new EntryRows(bytes);
        expect(rowsIn(rows).map((row) => rows.entry(row))).toEqual(latestEntries(entries));
        for (const row of rowsIn(rows)) {
          const { path } = rows.entry(row);
          const others = rowsIn(rows).filter((other) => rows.path(other) === path);
          expect(rows.isLast(row)).toBe(others.at(-1) === row);
          for (const inode of ['1', '2', '3'].filter((one) => one !== rows.inode(row)))
            expect(rows.hasInode(row, inode)).toBe(others.some((other) => rows.inode(other) === inode));
        }
      }),
      RUNS,
    );
  });

  test('are read in any order, also where text that is no UTF-8 stands between', () => {
    fc.assert(
      fc.property(
        fc.array(entryLine, { minLength: 1, maxLength: 20 }),
        fc.infiniteStream(fc.nat()),
        (lines, at) => {
          const bytes = bytesOf(...lines.map((line) => line.bytes));
          const rows = new EntryRows(bytes);
          const { entries } = parsePosFile(bytes);
          for (const pick of at.take(30)) {
            const row = pick % rows.count;
            expect(rows.entry(row)).toEqual(entries[row]);
            expect(decodePath(pathBytesOf(rows, row))).toBe(entries[row]?.path);
          }
        },
      ),
      RUNS,
    );
  });

  test('are the same where one path stands there a hundred thousand times', () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => ({
      path: '/a',
      position: index,
      inode: index % 7,
    }));
    const rows = new EntryRows(bytesOf(posText(lines)));
    expect(rowsIn(rows)).toHaveLength(7);
  });

  test('of many paths each are found again by path', () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => ({
      path: `/${index}`,
      position: 1,
      inode: index,
    }));
    const rows = new EntryRows(bytesOf(posText(lines)));
    expect(rowsIn(rows).every((row) => rows.isLast(row))).toBe(true);
    expect(rows.path(4_321)).toBe('/4321');
  });
});

function pathBytesOf(rows: EntryRows, row: number): Uint8Array {
  const bytes: number[] = [];
  for (let byte = rows.pathByte(row, 0); byte >= 0; byte = rows.pathByte(row, bytes.length)) bytes.push(byte);
  return Uint8Array.from(bytes);
}

function rowsIn(rows: EntryRows): readonly number[] {
  return Array.from(rows.latest(), ({ row }) => row);
}
