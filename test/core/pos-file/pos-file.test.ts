import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePath } from '../../../src/core/pos-file/path-bytes.ts';
import {
  entryKeyIn,
  LARGEST_POSITION,
  latestIn,
  type PositionEntry,
  parsePosFile,
  whyUnparsable,
} from '../../../src/core/pos-file/pos-file.ts';
import { bytesOf, entryLine, RUNS } from '../../support/arbitraries.ts';
import { entry, parse } from '../../support/builders.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';

const UNWATCHED = 'f'.repeat(16);

describe('a line', () => {
  test('is path, position and inode', () => {
    expect(parse('/var/log/app.log\t0000000000000190\t000000000025a50b\n')).toEqual({
      entries: [{ path: '/var/log/app.log', position: 400, inode: '2467083' }],
      unparsable: [],
    });
  });

  test.each([
    ['path', `/${'x'.repeat(8_192)}\t1\t2\n`],
    ['position', `p\t${'1'.repeat(3_000_000)}\t2\n`],
    ['inode', `p\t1\t${'a'.repeat(3_000_000)}\n`],
  ])('whose %s is longer than any is no entry, takes no time and is not kept whole', async (_, line) => {
    const found: ReturnType<typeof parse>[] = [];
    expect(await cpuSeconds(() => found.push(parse(line)))).toBeLessThan(3);
    expect(found).toMatchObject([{ entries: [], unparsable: [{ line: 1 }] }]);
    expect(found[0]?.unparsable[0]?.text).toHaveLength(8_192);
  });

  test.each([
    ['', 'it is empty'],
    ...['p', 'p 1 2', 'p\t1', 'p\t\t2', 'p\tx\t2', 'a\tx\t1\t2', '\t1\t2', 'p\t1\t', 'p\t1\tx'].map(
      (text) => [text, 'it is no path, position and inode, with a tab between them'],
    ),
    ['\0\0\0\0', 'nothing but NUL bytes, as a crash of the machine leaves them'],
  ])('like %j is unparsable, and told with its number, because %s', (text, why) => {
    const { entries, unparsable } = parse(`good\t1\t2\n${text}\nalso\t3\t4\n`);
    expect(entries.map(({ path, position, inode }) => `${path} ${position} ${inode}`)).toEqual([
      'good 1 2',
      'also 3 4',
    ]);
    expect(unparsable).toEqual([{ line: 2, text }]);
    expect(whyUnparsable({ text })).toBe(why);
  });

  test('without its newline is torn and no entry yet, and told as such', () => {
    const torn = 'b\t0000000000000003\t0000000000000004';
    expect(parse(`a\t1\t2\n${torn}`)).toEqual({
      entries: [{ path: 'a', position: 1, inode: '2' }],
      unparsable: [{ line: 2, text: torn, torn: true }],
    });
    for (const text of [torn, 'a\t1', '']) expect(whyUnparsable({ text, torn: true })).toMatch(/^it is torn/);
  });
});

describe('a pos file', () => {
  test("yields an entry for each line that Fluentd's regex accepts", () => {
    fc.assert(
      fc.property(fc.array(entryLine, { maxLength: 6 }), (lines) => {
        const { entries, unparsable } = parsePosFile(bytesOf(...lines.map(({ bytes }) => bytes)));
        const expected = lines.map(({ path, position, inode }) => ({
          path: decodePath(path),
          position:
            position.toLowerCase().replace(/^0+/, '') === UNWATCHED
              ? null
              : Math.min(Number(`0x${position}`), LARGEST_POSITION),
          inode: BigInt(`0x${inode}`).toString(),
        }));
        expect({ entries, unparsable }).toEqual({ entries: expected, unparsable: [] });
      }),
      { ...RUNS, numRuns: 1_000 },
    );
  });

  test('that is torn anywhere yields the entries of its whole lines only', () => {
    const cut = fc.tuple(fc.array(entryLine, { minLength: 1, maxLength: 4 }), fc.nat());
    fc.assert(
      fc.property(cut, ([lines, at]) => {
        const whole = bytesOf(...lines.map(({ bytes }) => bytes));
        const torn = whole.subarray(0, at % whole.length);
        const complete = torn.filter((byte) => byte === 0x0a).length;
        expect(parsePosFile(torn).entries).toEqual(parsePosFile(whole).entries.slice(0, complete));
      }),
      RUNS,
    );
  });

  test.each(readdirSync('fixtures/pos').filter((name) => name.endsWith('.pos')))(
    '%s of a real Fluentd is read',
    (name) => {
      const { entries, unparsable } = parsePosFile(readFileSync(`fixtures/pos/${name}`));
      if (!name.startsWith('tab-and-newline')) expect(unparsable).toEqual([]);
      if (!name.startsWith('empty-1')) expect(entries.length).toBeGreaterThan(0);
      for (const { position, inode } of entries) {
        expect(inode).toMatch(/^[1-9]\d*$/);
        if (position !== null) expect(position).toBeLessThan(1_000_000);
      }
    },
  );
});

describe('among several lines', () => {
  const [older, newer, unwatched] = [10, 20, null].map((position) => entry({ position })) as PositionEntry[];
  const latest = (...all: readonly (PositionEntry | undefined)[]) =>
    latestIn('/pos', all as readonly PositionEntry[]).entries;
  const others = [entry({ inode: '8', position: 5 }), entry({ path: '/other' })] as const;

  test('with one path and inode the last wins, also where it is smaller or unwatched; all others count', () => {
    for (const [first, last] of [
      [older, newer],
      [newer, older],
      [newer, unwatched],
    ])
      expect(latest(first, last)).toMatchObject([last as PositionEntry]);
    for (const other of others) expect(latest(older, other)).toMatchObject([older as PositionEntry, other]);
  });
});

test('only the first thousand of very many unparsable lines are kept', () => {
  const { unparsable } = parsePosFile(new Uint8Array(100_000).fill(0x0a));
  expect(unparsable).toHaveLength(1_000);
});

test('an entry that counts has its key, and the place of the later line', () => {
  const [one, two] = [entry({ position: 1 }), entry({ path: '/var/log/two.log', inode: '8' })];
  const again = { ...one, position: 9 };
  const keyed = [two, again].map((entry) => ({ ...entry, key: entryKeyIn('/pos', entry) }));
  const replaced = [{ ...one, key: entryKeyIn('/pos', one) }];
  expect(latestIn('/pos', [one, two, again])).toEqual({ entries: keyed, replaced });
});
