import { expect, test } from 'vitest';
import { tableLines, type View } from '../../../src/commands/inspect-view/table.ts';
import type { Found, FoundPosFile } from '../../../src/core/inspect/found.ts';
import { jsonOf } from '../../../src/core/inspect/inspection.ts';
import { parsePosFile } from '../../../src/core/pos-file/pos-file.ts';
import { widthOf } from '../../../src/core/text/text-width.ts';
import { unfound } from '../../core/worlds.ts';
import { bytesOf } from '../../support/arbitraries.ts';
import { foundOf } from '../../support/overviews.ts';

const DEEP = '/var/log/pods/default_my-application-7d9f8b6c5d-abcde_12345678-1234-123456789012/app/0.log';
const DENIED = 'permission denied: no right to read it';

test.each([80, 60, 40, 20])(
  'a terminal of %d columns breaks texts at words, and is never exceeded',
  (width) => {
    const error = `it is no pos file: ${'its first 64 KiB hold no line '.repeat(5)}`.trim();
    const notes = [`${DEEP}:12: in_tail skips what a file holds when it appears; set read_from_head true`];
    const found = overviewOf([], { error, troubles: [{ path: DEEP, error: DENIED }] });
    const lines = shown(found, { width, notes });
    expect(lines.filter((line) => widthOf(line) > width)).toEqual([]);
    const text = lines.map((line) => line.trim()).join(' ');
    for (const whole of [error, DENIED, 'set read_from_head true']) expect(text).toContain(whole);
    expect(lines.at(lines.findIndex((line) => line.startsWith('note:')) + 1)).toMatch(/^ {2}\S/);
  },
);

test('twenty of very many defects are shown, and the others counted', () => {
  const many = Array.from({ length: 22 }, (_, at) => at);
  const unparsable = many.map((line) => ({ line, text: 'x' }));
  expect(shown(overviewOf([], { unparsable }))).toContain('  and 2 more unparsable lines');
  const troubles = many.map((at) => ({ path: `/${at}`, error: DENIED }));
  expect(shown(overviewOf([], { troubles }))).toContain('  and 2 more such files');
});

test('pos files without entries are one line with a count for each reason, and an empty one tells why', () => {
  const posFiles = [
    ...['/a', '/b', '/c'].map((path) => ({ path, kind: 'missing' }) as const),
    ...['/d', '/e'].map((path) => ({ path, kind: 'empty' }) as const),
  ];
  const found = foundOf({}, { posFiles });
  expect(shown(found).slice(0, 5)).toEqual([
    '/a (and 2 more)',
    '  it is not there',
    '',
    '/d (and 1 more)',
    '  it is empty for now',
  ]);
  const old = { ...found, posFiles: found.posFiles.map((one) => ({ ...one, error: undefined })) };
  expect(shown(old).slice(0, 2)).toEqual(['/a (and 4 more)', '  no entry: in_tail has found no log']);
});

test('how often in_tail looks for new files is told if a configuration says so', () => {
  const found = foundOf({}, unfound(9));
  const conf = { sources: [], buffers: [], backupGlobs: [], problems: [], hidden: [], warnings: [] };
  const title = 'undiscovered: 1 file';
  expect(shown(found)).toContain(title);
  expect(shown(found, { conf })).toContain(`${title}; in_tail looks for new ones every 60 s`);
});

test('of many NUL bytes the table shows one', () => {
  const unparsable = [{ line: 1, text: '\0'.repeat(900) }];
  expect(shown(overviewOf([], { unparsable }))).toContainEqual(
    expect.stringMatching(/line 1 cannot .* leaves them: \\x00…$/),
  );
});

test.each<[string, readonly (number | null)[], string]>([
  ['of nothing', [], '0 files'],
  ['of what is known', [100, 300], '2 files, 400 B, 50% read, 200 B left'],
  ['of an empty file', [0], '1 file, 0 B, 100% read, 0 B left'],
  ['where something is unknown', [300, null], '2 files, at least 200 B left; lag unknown for 1 file'],
  ['where all is unknown', [null, null], '2 files, lag unknown'],
])('the total %s is told', (_, sizes, total) => {
  expect(shown(overviewOf(sizes)).at(-2)).toBe(`total: ${total}`);
});

test('an unwatched file counts as neither read nor left', () => {
  const files = { '/a': { size: 100, position: 50 }, '/b': { size: 900, position: null } };
  const lines = shown(foundOf(files));
  expect(lines.find((line) => line.includes('unwatched'))).toMatch(/unwatched +0 B +- +- +900 /);
  expect(lines.at(-2)).toBe('total: 2 files, 100 B, 50% read, 50 B left');
});

test('an impossible position is marked, and is a number for programs', () => {
  const text = `/a\t0000000000000005\t7\n/b\tfffffffffffffffe\t7\n/c\t${'f'.repeat(300)}\t7\n/d\t${'f'.repeat(16)}\t7\n`;
  const { entries } = parsePosFile(bytesOf(text));
  const files = entries.map(({ path, position }) => [path, { size: null, position }] as const);
  const found = foundOf(Object.fromEntries(files));
  const positions = shown(found).flatMap((line) => / (\S+) +\? +7 /.exec(line)?.[1] ?? []);
  const most = '≥9007199254740991';
  expect(positions).toEqual(['5', most, most, '-']);
  const { posFiles } = JSON.parse(jsonOf(found));
  const numbers = posFiles[0].entries.map(({ position }: { position: number | null }) => position);
  expect(numbers).toEqual([5, 9007199254740991, 9007199254740991, null]);
});

function shown(found: Found, changes: Partial<View> = {}): readonly string[] {
  const view = { width: Infinity, conf: undefined, notes: [], ...changes };
  return [...tableLines(found, view)];
}

/** A log file a size, read up to its first 100 bytes; null: it is missing. */
function overviewOf(sizes: readonly (number | null)[], changes: Partial<FoundPosFile> = {}): Found {
  const files = sizes.map((size, at) => [`/${at}`, { size, position: size === 0 ? 0 : 100 }]);
  const found = foundOf(Object.fromEntries(files));
  return { ...found, posFiles: found.posFiles.map((posFile) => ({ ...posFile, ...changes })) };
}
