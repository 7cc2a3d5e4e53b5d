import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../../src/core/drain/policy.ts';
import { filesBy } from '../../../src/core/inspect/by-witness.ts';
import { foundBy } from '../../../src/core/inspect/found.ts';
import { check, summaryOf } from '../../../src/core/inspect/summary.ts';
import { observe } from '../../../src/core/look/observe.ts';
import type { Witness } from '../../../src/core/witness/reports.ts';
import { snapshot } from '../../support/builders.ts';
import { holding, sight } from '../../support/said.ts';
import { alive, gone, SILENT } from '../../support/witnesses.ts';

function inspected(...witnesses: readonly Witness[]) {
  const reports = { at: 5, witnesses };
  const look = { ...snapshot(5, []), ...filesBy(reports, '/posidle'), source: 'witness' as const, reports };
  return foundBy(look, observe(undefined, look, DEFAULT_POLICY));
}

const KILLED: Witness = { worker: '0-10.sock', kind: 'gone', report: undefined };
const READER = '/pos/a.pos';
const file = (more: object) => sight({ reader: READER, ...more });
const worker = (more: object) => alive({ readers: [READER], ...more });

test('the files of a witness look like those of a pos file', () => {
  const found = inspected(
    worker({
      files: [
        file({ path: '/a', inode: 1, pos: 70, size: 100 }),
        file({ path: '/b', inode: 2, pos: 100, size: 104, unfinished: 4 }),
        file({ path: '/c', inode: 3 }),
      ],
    }),
  );
  expect(found.posFiles.map(({ path }) => path)).toEqual([READER]);
  expect(found.posFiles[0]?.files.map(({ path, state, lag }) => [path, state, lag])).toEqual([
    ['/a', 'behind', 30],
    ['/b', 'partial-line', 4],
    ['/c', 'caught-up', 0],
  ]);
  expect(check(found, 0).passed).toBe(false);
  expect(check(found, 30).passed).toBe(true);
});

test('a file that Fluentd let go of unread is left, and nothing is "caught up"', () => {
  const closed = [sight({ reader: READER, path: '/rotated', inode: 4, pos: 70, size: 100 })];
  const found = inspected(worker({ files: [file({ path: '/a' })], closed }));
  expect(found.seen.progress.left).toMatchObject([{ kind: 'let-go', path: '/rotated' }]);
  expect(found.caughtUp).toBe(false);
  const reason = expect.stringMatching(
    /^\/rotated: Fluentd closed it before all of it was read \(30 B\) \[let-go\]; /,
  );
  expect(check(found, 1_000)).toEqual({ passed: false, reason });
});

test('nothing is "caught up" where a worker has ended, and another one still runs', () => {
  const found = inspected(
    gone({ worker: 1 }, '1-11.sock'),
    worker({ worker: 0, workers: 2, files: [file({})] }),
  );
  expect(summaryOf(found)).toMatch(/^lag unknown/);
  expect(check(found, 1_000)).toMatchObject({ passed: false, reason: expect.stringMatching(/worker/) });
});

const CHUNK = { outputs: [holding('a')] };

test.each<[string, string | undefined, readonly Witness[]]>([
  ['chunks of a worker that runs, beside one that was killed', '10 B', [KILLED, worker(CHUNK)]],
  ['a worker that does not answer', 'its witness did not answer', [SILENT, worker({})]],
  ['no chunks that an ended worker left for good', undefined, [gone({ ends: CHUNK.outputs }), worker({})]],
])('an inspection waits for %s', (_, told, witnesses) => {
  const { waitsFor, caughtUp } = inspected(...witnesses);
  if (told === undefined) expect(waitsFor).toBeUndefined();
  else expect(waitsFor).toContain(told);
  expect(caughtUp).toBe(!witnesses.includes(SILENT));
});

test.each([
  ['has ended', gone()],
  ['is silent', SILENT],
])('nothing is "caught up" where the only witness %s', (_, witness) => {
  const found = inspected(witness);
  expect(summaryOf(found)).toMatch(/^lag unknown/);
  expect(check(found, 1_000).passed).toBe(false);
});
