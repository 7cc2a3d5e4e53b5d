import { expect, test } from 'vitest';
import { History } from '../../../src/core/inspect/history.ts';
import { inspectionOf } from '../../../src/core/inspect/inspection.ts';
import { type Overview, overview, summaryOf, type Verdict } from '../../../src/core/inspect/overview.ts';
import { verdictsOf } from '../../../src/core/inspect/verdict.ts';
import type { Abandoned } from '../../../src/core/observe/observation.ts';
import { Inspector } from '../../../src/tasks/inspect-look.ts';
import { LOG, POS, posText } from '../../support/builders.ts';
import { FakeHost } from '../../support/fake-host.ts';
import { confWith, inspectedBy } from '../../support/inspected-by.ts';

interface Look {
  readonly size: number;
  readonly position: number;
}

/** What a live view says of one log, a look a second; every byte of it is a line. */
async function views(looks: readonly Look[]): Promise<readonly Overview[]> {
  const host = new FakeHost();
  const inspector = new Inspector(host, inspectedBy(host, [POS]), new History());
  const found = [];
  for (const { size, position } of looks) {
    host.writeFile(LOG, '\n'.repeat(size), '7');
    const before = found.length === 0 ? undefined : looks[found.length - 1]?.position;
    if (position !== before) host.writeFile(POS, posText([{ path: LOG, position, inode: 7 }]));
    found.push(await inspector.look());
    await host.sleep(host.now() + 1_000);
  }
  return found;
}

const verdicts = async (looks: readonly Look[]) => (await views(looks)).map(({ verdict }) => verdict?.is);
const each = (count: number, look: (second: number) => Look) =>
  Array.from({ length: count }, (_, at) => look(at));

test('what is read within ten seconds is ok, however much is written', async () => {
  const looks = each(60, (at) => ({ size: at * 100, position: Math.max(0, at - 8) * 100 }));
  expect(new Set(await verdicts(looks))).toEqual(new Set(['ok']));
});

test('what is written faster than it is read falls behind, once bytes have waited for ten seconds', async () => {
  const found = await verdicts(each(60, (at) => ({ size: at * 100, position: at * 50 })));
  expect(new Set(found)).toEqual(new Set(['ok', 'falling behind']));
  const first = found.indexOf('falling behind');
  // At second 20 what was written at second 10 is being read.
  expect(first).toBeGreaterThanOrEqual(20);
  expect(first).toBeLessThanOrEqual(24);
  expect(new Set(found.slice(first))).toEqual(new Set(['falling behind']));
});

test('what catches up is ok, however much is left', async () => {
  const found = await verdicts(each(60, (at) => ({ size: 10_000 + at, position: at * 100 })));
  expect(new Set(found)).toEqual(new Set(['ok']));
});

test('what stands still for ten seconds with bytes left is stalled, and is ok again when it is read', async () => {
  const stalled = each(20, (at) => ({ size: 100 + at, position: 50 }));
  const found = await verdicts([...stalled, { size: 130, position: 130 }]);
  expect(new Set(found.slice(0, 10))).toEqual(new Set(['ok']));
  expect(new Set(found.slice(11, 20))).toEqual(new Set(['stalled']));
  expect(found.at(-1)).toBe('ok');
});

test('the lag in seconds is as old as the oldest byte that is not read, and the verdict tells it to programs', async () => {
  const found = await views([
    { size: 100, position: 100 },
    ...each(20, (at) => ({ size: 110 + at, position: 100 })),
  ]);
  expect(found.map(({ late }) => late)).toEqual([
    0,
    ...each(20, (at) => ({ size: at, position: 0 })).map(({ size }) => (size + 1) * 1_000),
  ]);
  const told = inspectionOf(found.at(-1) as Overview);
  expect(told).toMatchObject({ lagSeconds: 20, verdict: 'stalled' });
  expect(told.why).toMatch(/^\/var\/log\/app\.log stands still with 29 B left; Fluentd's log tells why/);
});

test('a deleted file of which nobody knows what was read is unknown', async () => {
  const host = new FakeHost();
  host.writeFile(POS, posText([{ path: LOG, position: 5, inode: 7 }]));
  const found = await new Inspector(host, inspectedBy(host, [POS]), new History()).look();
  expect(found.verdict).toEqual({
    is: 'unknown',
    why: `${LOG} is missing, and nobody knows how much of it was read`,
  });
});

interface Fate {
  readonly after: number;
  readonly readBefore: number;
  readonly openFor?: number;
  readonly overflow?: 'block' | 'throw_exception';
}

const LOST = { path: LOG, bytes: 4 };
const UNPROVEN = { ...LOST, unproven: true } as const;

/** A log is written after ten seconds of rest, is read or not, goes away `after` milliseconds, and `openFor` later in_tail lets go of it. */
async function goneAfter({
  after,
  readBefore,
  openFor = 1_000,
  overflow,
}: Fate): Promise<Overview | undefined> {
  const host = new FakeHost();
  const conf = overflow && confWith(overflow);
  const inspector = new Inspector(host, inspectedBy(host, [POS], conf), new History());
  const other = { path: '/var/log/other.log', inode: 8 };
  host.writeFile(LOG, 'one\n', '7');
  host.writeFile(other.path, 'one\n', '8');
  const entries = [
    { path: LOG, position: 4, inode: 7 },
    { ...other, position: 4 },
  ];
  host.writeFile(POS, posText(entries));
  let found: Overview | undefined;
  const look = async (milliseconds: number) => {
    for (const end = host.now() + milliseconds; host.now() < end; ) {
      found = await inspector.look();
      await host.sleep(host.now() + 500);
    }
  };
  await look(10_000);
  host.appendLog(LOG, 'two\n');
  host.appendLog(other.path, 'two\n');
  await look(after);
  host.files.delete(LOG);
  await look(openFor);
  host.writeFile(
    POS,
    posText([
      { path: LOG, position: null, inode: 7 },
      { ...other, position: readBefore },
    ]),
  );
  await look(1_000);
  return found;
}

test.each<[string, Fate, readonly Abandoned[], Verdict['is']]>([
  [
    'that stood still for two seconds only after it went away was lost',
    { after: 1_000, readBefore: 4, openFor: 3_000 },
    [LOST],
    'losing',
  ],
  [
    'that was held up and let go while nothing was read was lost',
    { after: 4_000, readBefore: 4 },
    [LOST],
    'losing',
  ],
  ['that went away within two seconds was read', { after: 1_000, readBefore: 4 }, [], 'ok'],
  [
    'that was let go when in_tail read again was read where a full buffer makes in_tail wait',
    { after: 4_000, readBefore: 8, overflow: 'block' },
    [],
    'ok',
  ],
  [
    'that was let go when in_tail read again is unproven where a full buffer may refuse lines',
    { after: 4_000, readBefore: 8, overflow: 'throw_exception' },
    [UNPROVEN],
    'unknown',
  ],
  [
    'that was let go when in_tail read again is unproven where no configuration is known',
    { after: 4_000, readBefore: 8 },
    [UNPROVEN],
    'unknown',
  ],
])('a file %s', async (_, fate, lost, verdict) => {
  const found = await goneAfter(fate);
  expect(found?.lost).toEqual(lost);
  expect(found?.verdict?.is).toBe(verdict);
});

test('what is unproven is told beside what was lost, and to programs', () => {
  const found = { ...overview({ posFiles: [], undiscovered: [], unlisted: [], buffers: undefined }) };
  const lost = [LOST, { ...UNPROVEN, bytes: 5 }];
  expect(summaryOf({ ...found, lost })).toBe(
    `caught up: 0 files; 1 file went away unread, 4 B, first ${LOG}; 1 file went away, perhaps unread, 5 B, first ${LOG}`,
  );
  expect(inspectionOf({ ...found, lost }).lost).toEqual([
    { path: LOG, size: 4 },
    { path: LOG, size: 5, unproven: true },
  ]);
  expect(verdictsOf({ ...found, lost }, new History()).verdict).toMatchObject({ is: 'losing' });
  expect(verdictsOf({ ...found, lost: lost.slice(1) }, new History()).verdict).toEqual({
    is: 'unknown',
    why: `1 file went away, perhaps unread, 5 B, first ${LOG}`,
  });
});
