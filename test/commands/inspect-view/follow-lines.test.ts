import { expect, test } from 'vitest';
import { FollowedLines } from '../../../src/commands/inspect-view/follow-lines.ts';
import { type Overview, overview, type PosFileOverview } from '../../../src/core/inspect/overview.ts';
import { InspectedRows } from '../../../src/core/inspect/rows.ts';
import type { FileState } from '../../../src/core/look/file-state.ts';
import { EntryRows } from '../../../src/core/pos-file/entry-rows.ts';
import { bytesOf } from '../../support/arbitraries.ts';
import { inspectedPosFile, posText } from '../../support/builders.ts';

function filesOf(paths: readonly string[], states: readonly FileState[], inodes: readonly number[]) {
  const lines = paths.map((path, at) => ({ path, position: 4, inode: inodes[at] ?? 7 }));
  const entries = new InspectedRows(new EntryRows(bytesOf(posText(lines))));
  for (const [row, state] of states.entries())
    entries.record(row, { state, size: 8, lag: state === 'behind' ? 4 : 0, read: state !== 'behind' }, 0);
  return inspectedPosFile(entries, { path: '/p' });
}

type States = Readonly<Record<string, FileState>>;

/** A pos file with a log of 8 bytes for each state; 4 are left where one is not read. */
function posFile(states: States, changes: Partial<PosFileOverview> = {}): PosFileOverview {
  const lines = Object.keys(states).map((path) => ({ path, position: 4, inode: 7 }));
  const entries = new InspectedRows(new EntryRows(bytesOf(posText(lines))));
  for (const [row, state] of Object.values(states).entries()) {
    const lag = state === 'caught-up' ? 0 : 4;
    entries.record(row, { state, size: 8, lag: state === 'missing' ? null : lag, read: lag === 0 }, 0);
  }
  return inspectedPosFile(entries, { path: '/p', ...changes });
}

function look(posFiles: readonly PosFileOverview[], undiscovered: readonly string[] = []): Overview {
  const files = undiscovered.map((path) => ({
    posFile: '/p',
    inode: '8',
    path,
    size: 2,
    refreshInterval: 60_000,
    unreadable: false,
  }));
  return overview({ posFiles, undiscovered: files, unlisted: [], buffers: undefined });
}

/** The lines of each look, which stays the same for 30 s, without their timestamps, and without the summaries. */
function told(looks: readonly Overview[], states?: readonly FileState[]): readonly (readonly string[])[] {
  const lines = new FollowedLines({ states });
  return looks.map((found, at) =>
    [0, 30_000]
      .flatMap((held) => [...lines.of(found, new Date(at * 40_000 + held))])
      .map((line) => line.replace(/^\S+ /, '').trimEnd())
      .filter((line) => !/^(caught up|behind|nothing|lag unknown)/.test(line)),
  );
}

test('tells next to nothing of logs that are written, read and rotated', () => {
  const lines = new FollowedLines({ states: undefined });
  const paths = Array.from({ length: 100 }, (_, at) => `/${at}.log`);
  const written = [];
  for (let second = 0; second < 600; second += 1) {
    // Every other look finds a log behind, and each is renamed once in ten minutes.
    const states = paths.map((_, file) => ((file + second) % 2 === 0 ? 'caught-up' : 'behind'));
    const inodes = paths.map((_, file) => 7 + Math.floor((second + 6 * file) / 600));
    written.push(...lines.of(look([filesOf(paths, states, inodes)]), new Date(second * 1_000)));
  }
  expect(written.every((line) => /behind by 200 B in 50 of 100 files/.test(line))).toBe(true);
  expect(written).toHaveLength(1);
});

const ABSENT = { error: 'there is no such file' };

test('tells a verdict that holds for five seconds, and none of an instant', () => {
  const lines = new FollowedLines({ states: undefined });
  const verdicts = ['ok', 'unknown', 'ok', ...Array(8).fill('stalled'), ...Array(8).fill('ok')] as const;
  const written = verdicts.flatMap((is, second) => {
    const found = { ...look([posFile({ '/a': 'caught-up' })]), verdict: { is, why: 'why' } };
    return [...lines.of(found, new Date(second * 1_000))].filter((line) => line.includes('why'));
  });
  expect(written.map((line) => line.slice(17))).toEqual(['08.000Z stalled: why\n', '16.000Z ok: why\n']);
});

test('tells a pos file that comes, and one that goes', () => {
  const one = posFile({ '/a': 'behind' });
  expect(told([look([posFile({}, ABSENT)]), look([one]), look([])])).toEqual([
    ['/p: there is no such file'],
    ['/p can be read now', '/a is behind, 4 B left'],
    ['/p has gone'],
  ]);
});

test('takes no file for gone while its pos file cannot be read', () => {
  const one = look([posFile({ '/a': 'behind' })]);
  const rewritten = look([posFile({}, { error: 'it is empty', empty: true })], ['/a']);
  expect(told([one, rewritten, one])).toEqual([
    ['/a is behind, 4 B left'],
    ['/p: it is empty'],
    ['/p can be read now'],
  ]);
});

test('tells a file that is discovered, and one that goes before that', () => {
  const one = posFile({ '/a': 'caught-up' });
  const both = posFile({ '/a': 'caught-up', '/n': 'behind' });
  expect(told([look([one], ['/m', '/n']), look([both]), look([one])])).toEqual([
    ['/m is undiscovered, 2 B left', '/n is undiscovered, 2 B left'],
    ['/n is discovered', '/m has gone', '/n is behind, 4 B left'],
    ['/n (inode 7) has gone'],
  ]);
});

test('tells of the states that are asked for what comes into them and what leaves them', () => {
  const looks = (['behind', 'caught-up', 'blocked', 'behind'] as const).map((state) =>
    look([posFile({ '/a': state, '/b': 'missing' })]),
  );
  expect(told([...looks, look([posFile({})])], ['behind'])).toEqual([
    ['/a is behind, 4 B left'],
    ['/a is caught-up, 0 B left'],
    [],
    ['/a is behind, 4 B left'],
    ['/a (inode 7) has gone'],
  ]);
});

test('keeps a log apart that stands in two pos files', () => {
  const both = (first: FileState, second: FileState) =>
    look([posFile({ '/a': first }), posFile({ '/a': second }, { path: '/q' })]);
  expect(told([both('behind', 'caught-up'), both('caught-up', 'behind')])).toEqual([
    ['/a is behind, 4 B left (in /p)'],
    ['/a is caught-up, 0 B left (in /p)', '/a is behind, 4 B left (in /q)'],
  ]);
});

test('tells why a log cannot be looked at, whatever states are asked for', () => {
  const closed = { troubles: [{ path: '/a', error: 'permission denied' }] };
  const looks = [look([posFile({ '/a': 'missing' }, closed)]), look([posFile({ '/a': 'caught-up' })])];
  const lines = [['cannot look at /a: permission denied'], ['/a is caught-up, 0 B left']];
  expect(told(looks)).toEqual(lines);
  expect(told(looks, ['behind'])).toEqual(lines);
});

test('tells how many lines cannot be parsed', () => {
  const torn = { unparsable: [{ line: 2, text: 'rubbish' }] };
  const states = { '/a': 'caught-up' } as const;
  expect(told([look([posFile(states, torn)]), look([posFile(states)])])).toEqual([
    ['/p: 1 unparsable line, the first is line 2: it holds no tab'],
    ['/p: every line can be parsed now'],
  ]);
});
