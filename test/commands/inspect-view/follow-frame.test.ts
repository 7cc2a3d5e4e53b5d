import { expect, test } from 'vitest';
import { frameOf } from '../../../src/commands/inspect-view/follow-frame.ts';
import { styleOf } from '../../../src/commands/inspect-view/style.ts';
import { History, Track } from '../../../src/core/inspect/history.ts';
import { SteadyOrder } from '../../../src/core/inspect/order.ts';
import { overview } from '../../../src/core/inspect/overview.ts';
import { InspectedRows } from '../../../src/core/inspect/rows.ts';
import { EntryRows } from '../../../src/core/pos-file/entry-rows.ts';
import { bytesOf } from '../../support/arbitraries.ts';
import { inspectedPosFile, posText } from '../../support/builders.ts';

const PATHS = Array.from({ length: 30 }, (_, at) => `/${at}.log`);

/** The picture of 30 files that are behind. */
function frame({ rows, top = 0 }: { readonly rows: number; readonly top?: number }) {
  const lines = PATHS.map((path) => ({ path, position: 4, inode: 7 }));
  const entries = new InspectedRows(new EntryRows(bytesOf(posText(lines))));
  for (const row of PATHS.keys()) entries.record(row, { state: 'behind', size: 8, lag: 4, read: false }, 0);
  const posFile = inspectedPosFile(entries, { path: '/p', error: 'odd' });
  const found = overview({ posFiles: [posFile], undiscovered: [], unlisted: [], buffers: undefined });
  const live = { sort: 'lag', paused: false, top, at: new Date(0), interval: 1_000 } as const;
  const view = { style: styleOf(false), width: 80, raw: false, conf: undefined, notes: [] };
  return frameOf(
    found,
    { ...live, total: new Track(), order: new SteadyOrder(), history: new History() },
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
    expect(files).toBe(Math.min(30, Math.max(rows - 6, rows === 1 ? 0 : 1)));
    expect(lines.at(-1)).toMatch(files === 0 ? /· 0 of 30$/ : new RegExp(`· 1–${files} of 30$`));
  },
);

test('no picture is scrolled beyond the last file', () => {
  const { lines, top } = frame({ rows: 16, top: 40 });
  expect(top).toBe(20);
  expect(filesIn(lines)).toBe(10);
  expect(frame({ rows: 16, top: 19 }).top).toBe(19);
});
