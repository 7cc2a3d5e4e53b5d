import { expect, test } from 'vitest';
import { frameOf } from '../../../src/commands/inspect-view/follow-frame.ts';
import { Rates } from '../../../src/core/inspect/rates.ts';
import { foundOf, Looks } from '../../support/overviews.ts';
import { output } from '../../support/said.ts';
import { alive } from '../../support/witnesses.ts';

const PATHS = Array.from({ length: 30 }, (_, at) => `/${at}.log`);

/** The picture of 30 files that are behind. */
function frame(rows: number, columns = 80): readonly string[] {
  const files = Object.fromEntries(PATHS.map((path) => [path, { size: 8, position: 4 }]));
  const seen = new Looks(new Rates()).look(0, files);
  const found = { ...seen, posFiles: seen.posFiles.map((posFile) => ({ ...posFile, error: 'odd' })) };
  return frameOf(found, { rows, columns, at: new Date(0) });
}

test.each([1, 2, 3, 4, 5, 6, 7, 8, 24, 100])('a picture of %s rows shows as many files as fit', (rows) => {
  const lines = frame(rows);
  expect(lines.length).toBeLessThanOrEqual(rows);
  const shown = lines.filter((line) => /\.log$/.test(line)).length;
  expect(shown).toBe(Math.min(30, Math.max(0, rows - 6)));
  if (shown > 0 && shown < 30) expect(lines.at(-1)).toBe(`and ${30 - shown} more files`);
});

test.each([20, 40, 120])('no line of a picture is wider than %s columns', (columns) => {
  expect(frame(24, columns).filter((line) => line.length > columns)).toEqual([]);
});

test('shows how long the oldest byte of each file has been unread, as far as posidle saw', () => {
  const looks = new Looks(new Rates());
  const files = { '/behind.log': { size: 8, position: 4 }, '/read.log': { size: 8, position: 8 } };
  looks.look(0, files);
  const [title = '', behind = '', read = ''] = frameOf(looks.look(7_000, files), {
    ...{ rows: 24, columns: 120, at: new Date(0) },
  }).slice(-3);
  const cellIn = (line: string) =>
    line
      .slice(0, title.indexOf('OLDEST') + 6)
      .split(' ')
      .at(-1);
  expect([behind, read].map(cellIn)).toEqual(['7s', '-']);
});

test('with a witness, the picture shows each output, the one that holds most first', () => {
  const receipt = { took: 20, left: 0, delivered: 15, secondary: 0, aside: 0, dropped: 0, held: 5 };
  const outputs = [
    output({ id: 'a', type: 'http' }),
    output({ id: 'b', type: 'file', n: 1, bytes: 380, chunks: ['x'], receipt }),
  ];
  const found = foundOf({ '/a.log': { size: 8, position: 4 } });
  const seen = { ...found.seen, reports: { at: 0, witnesses: [alive({ outputs })] } };
  const lines = frameOf({ ...found, seen }, { rows: 24, columns: 120, at: new Date(0) });
  const shown = lines.filter((line) => / holds /.test(line));
  expect(shown).toEqual([
    'b (file): holds 1 chunk (380 B); 20 taken, 15 delivered, 5 held',
    'a (http): holds nothing',
  ]);
});
