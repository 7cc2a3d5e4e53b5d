import { expect, test } from 'vitest';
import { frameOf, type Live } from '../../../src/commands/inspect-view/follow-frame.ts';
import { NO_WISHES } from '../../../src/commands/inspect-view/follow-keys.ts';
import { styleOf } from '../../../src/commands/inspect-view/style.ts';
import { confFacts } from '../../../src/core/fluent-conf/facts.ts';
import { fluentConf } from '../../../src/core/fluent-conf/fluent-conf.ts';
import { parseConf } from '../../../src/core/fluent-conf/syntax.ts';
import type { ShownFile } from '../../../src/core/inspect/found.ts';
import { SteadyOrder } from '../../../src/core/inspect/order.ts';
import { Paces } from '../../../src/core/inspect/paces.ts';
import { Looks } from '../../support/overviews.ts';

const SOURCE = `<source>
  @type tail
  path /*.log
  pos_file /pos
  tag a
  read_bytes_limit_per_second 8192
  <group>
  </group>
</source>`;
const CONF = confFacts(fluentConf(parseConf(SOURCE, '/f.conf').root, { env: {}, hostname: '' }));
const PATHS = Array.from({ length: 30 }, (_, at) => `/${at}.log`);

/** The picture of 30 files that are behind. */
function frame({ rows, top = 0, ...more }: { readonly rows: number } & Partial<Live>) {
  const files = Object.fromEntries(PATHS.map((path) => [path, { size: 8, position: 4 }]));
  const seen = new Looks(new Paces()).look(0, files);
  const found = { ...seen, posFiles: seen.posFiles.map((posFile) => ({ ...posFile, error: 'odd' })) };
  const live = { ...NO_WISHES, top, chosen: top, at: new Date(0), opened: undefined, ...more };
  const view = { style: styleOf(false), width: 80, raw: false, conf: CONF, notes: [] };
  return frameOf(
    found,
    { ...live, order: new SteadyOrder() },
    { rows, columns: 80, view: { ...view, states: undefined, sort: 'lag' } },
  );
}

const filesIn = (lines: readonly string[]) => lines.filter((line) => /\.log$/.test(line)).length;

test.each([1, 2, 3, 4, 5, 6, 7, 8, 24, 100])(
  'a picture of %s rows shows as many files as it says',
  (rows) => {
    const { lines } = frame({ rows });
    expect(lines).toHaveLength(rows);
    const files = filesIn(lines);
    expect(files).toBe(Math.min(30, Math.max(rows - 7, rows === 1 ? 0 : 1)));
    expect(lines.at(-1)).toMatch(files === 0 ? /· 0 of 30$/ : new RegExp(`· 1–${files} of 30$`));
  },
);

test('no picture is scrolled beyond the last file', () => {
  const { lines, top } = frame({ rows: 16, top: 40 });
  expect(top).toBe(21);
  expect(filesIn(lines)).toBe(9);
  expect(frame({ rows: 16, top: 19 }).top).toBe(19);
});

test('a picture marks the chosen file, and shows the page that it is on', () => {
  const { lines, file, chosen } = frame({ rows: 16, chosen: 25 });
  expect(lines.filter((line) => line.startsWith('› '))).toEqual([expect.stringMatching(/\/25\.log$/)]);
  expect(file).toMatchObject({ posFile: '/pos', path: '/25.log', inode: '7' });
  expect(frame({ rows: 16, chosen: 99 }).chosen).toBe(29);
  expect(chosen).toBe(25);
});

test('an opened file is shown with its state, its source and its limits, and one that has gone is said to be', () => {
  const lines = frame({
    rows: 24,
    shows: 'file',
    opened: frame({ rows: 16, chosen: 3 }).file,
  }).lines;
  expect(lines.slice(0, 5)).toEqual([
    '',
    'File /3.log: behind, 4 B left, 50% read, position 4, size 8, inode 7, last moved',
    '  0.0 s ago.',
    '',
    '',
  ]);
  expect(lines).toContain('source: /f.conf:1, path /*.log');
  expect(lines).toContain('limits: 8.0 KiB/s, lines, by a <group>');
  const opened = { ...(frame({ rows: 16 }).file as ShownFile), key: 'x', path: '/x.log' };
  const gone = frame({ rows: 24, shows: 'file', opened });
  expect(gone.lines[0]).toBe('/x.log has gone');
});
