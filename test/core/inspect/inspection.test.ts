import { expect, test } from 'vitest';
import { inspectionOf, whole } from '../../../src/core/inspect/inspection.ts';
import { type Overview, overview, type PosFileOverview } from '../../../src/core/inspect/overview.ts';
import { InspectedRows } from '../../../src/core/inspect/rows.ts';
import { EntryRows } from '../../../src/core/pos-file/entry-rows.ts';
import { bytesOf } from '../../support/arbitraries.ts';
import { inspectedPosFile, LOG, POS, posText } from '../../support/builders.ts';

const BEHIND = { state: 'behind', size: 160, lag: 60, read: false } as const;
const UNKNOWN = { state: 'missing', size: null, lag: null, read: false } as const;

test('an inspection has the fields of the contract, in its order, and no more', () => {
  const late = {
    path: '/late.log',
    inode: '8',
    size: 9,
    refreshInterval: 60_000,
    unreadable: false,
    posFile: POS,
  };
  const found = overviewOf([{ ...posFile(), unparsable: [{ line: 3, text: 'rubbish' }] }], [late]);
  expect(JSON.stringify(whole(inspectionOf(found)))).toBe(
    JSON.stringify({
      posFiles: [
        {
          path: POS,
          entries: [
            { path: LOG, position: 100, inode: '18446744073709551615', size: 160, lag: 60, state: 'behind' },
            { path: '/gone', position: null, inode: '7', size: null, lag: null, state: 'missing' },
          ],
          unparsable: [{ line: 3, text: 'rubbish' }],
        },
      ],
      undiscovered: [{ path: '/late.log', size: 9 }],
      lag: null,
      knownLag: 69,
      unknownFiles: 1,
      caughtUp: false,
    }),
  );
});

test('a pos file that cannot be inspected has an error, and the lag of all is unknown', () => {
  const { posFiles, lag, caughtUp } = inspectionOf(overviewOf([{ ...posFile(''), error: 'EACCES' }]));
  expect(posFiles).toMatchObject([{ path: POS, error: 'EACCES' }]);
  expect({ lag, caughtUp }).toEqual({ lag: null, caughtUp: false });
});

function posFile(text?: string): PosFileOverview {
  const lines = [
    { path: LOG, position: 100, inode: '18446744073709551615' },
    { path: '/gone', position: null, inode: 7 },
  ];
  const entries = new InspectedRows(new EntryRows(bytesOf(text ?? posText(lines))));
  for (const [row, judgement] of [BEHIND, UNKNOWN].entries())
    if (row < entries.rows.count) entries.record(row, judgement);
  return inspectedPosFile(entries);
}

function overviewOf(
  posFiles: readonly PosFileOverview[],
  undiscovered: Overview['undiscovered'] = [],
): Overview {
  return overview({ posFiles, undiscovered, unlisted: [], buffers: undefined });
}
