import { expect, test } from 'vitest';
import { begin } from '../../../src/core/drain/state.ts';
import { Rates } from '../../../src/core/inspect/rates.ts';
import { metricsOfInspection, metricsOfWatch } from '../../../src/core/metrics/metrics.ts';
import { POS, seen as seenAt, snapshot } from '../../support/builders.ts';
import { Looks, type Written } from '../../support/overviews.ts';
import { output } from '../../support/said.ts';
import { alive } from '../../support/witnesses.ts';
import { BROKEN, MISSING, said, unfound, unreadable } from '../worlds.ts';

type World = Parameters<Looks['look']>[2];
type Files = Readonly<Record<string, Written>>;

/** An exporter with a look every five seconds. */
class Exporter {
  readonly #looks = new Looks(new Rates());
  #count = 0;

  scrape(files: Files, perFile = 0, world: World = {}): ReadonlyMap<string, number> {
    const found = this.#looks.look(this.#count * 5_000, files, world);
    this.#count += 1;
    return seriesIn(metricsOfInspection({ found, took: 20, looks: this.#count }, perFile));
  }
}

/** By name and labels. Each metric tells its help and type once, no series comes twice, and no word in a label has a space. */
function seriesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.trimEnd().split('\n');
  const series = lines.filter((line) => !line.startsWith('#'));
  expect(new Set(lines).size).toBe(lines.length);
  expect(series.filter((line) => / .* /.test(line))).toEqual([]);
  const pairs = series.map((line) => /^(.*) (\S+)$/.exec(line) ?? []);
  expect(new Set(pairs.map(([, name]) => name)).size).toBe(series.length);
  return new Map(pairs.map(([, name = '', value]) => [name, Number(value)]));
}

const singleIn = (series: ReadonlyMap<string, number>, name = '') =>
  [...series.keys()].filter((key) => key.startsWith(`posidle_file_${name}`));

const BEHIND = { size: 100, position: 40 };
const READ = { size: 5, position: 5 };

test.each<[string, Files, World, Readonly<Record<string, number>>]>([
  [
    'files as totals and maxima, each state among them',
    { '/a': BEHIND, '/b': READ },
    {},
    {
      posidle_lag_bytes: 60,
      posidle_unknown_lag_files: 0,
      'posidle_files{state="behind"}': 1,
      'posidle_files{state="caught-up"}': 1,
      'posidle_files{state="blocked"}': 0,
      posidle_undiscovered_bytes: 0,
      posidle_doubts: 1,
      posidle_unreadable_pos_files: 0,
      posidle_looks_total: 1,
      posidle_look_duration_seconds: 0.02,
    },
  ],
  [
    'a file of which nobody knows the lag, which takes nothing from the total',
    { '/a': BEHIND, '/gone': { size: null, position: 5 } },
    {},
    { posidle_lag_bytes: 60, posidle_unknown_lag_files: 1 },
  ],
  [
    'files that in_tail has not found',
    {},
    unfound(9),
    { posidle_undiscovered_bytes: 9, 'posidle_files{state="undiscovered"}': 1 },
  ],
  ['a pos file that cannot be read', {}, unreadable('EACCES'), { posidle_unreadable_pos_files: 1 }],
  ['a pos file whose lines are broken', {}, BROKEN, { posidle_unreadable_pos_files: 1 }],
  [
    'the chunks of buffers on disk',
    {},
    { buffers: { outputs: [{ name: 'out', chunks: [{ path: '/c', size: 7 }] }], unseen: [], givenUp: [] } },
    { posidle_buffer_bytes: 7, posidle_buffer_chunks: 1 },
  ],
])('the exporter tells %s', (_, files, world, expected) => {
  expect(Object.fromEntries(new Exporter().scrape(files, 0, world))).toMatchObject(expected);
});

test.each<[string, Files, World]>([
  ['no pos file can be believed', {}, unreadable('EACCES')],
  ['lines of a pos file are broken', {}, BROKEN],
  ['the pos file is missing', {}, MISSING],
  ['nobody knows how far any file is read', { '/gone': { size: null, position: 5 } }, {}],
])('where %s, no lag is told, not even 0', (_, files, world) => {
  const series = new Exporter().scrape(files, 0, world);
  expect(series.has('posidle_lag_bytes')).toBe(false);
});

test.each<[string, World, number | undefined]>([
  ['nobody listed them', { buffers: undefined }, undefined],
  ['one of them is not seen', { buffers: { outputs: [], unseen: ['a'], givenUp: [] } }, undefined],
  ['all were seen', { buffers: { outputs: [], unseen: [], givenUp: [] } }, 0],
])('of empty buffers, where %s, 0 is told only if that is so', (_, world, chunks) => {
  const series = new Exporter().scrape({}, 0, world);
  expect([series.get('posidle_buffer_chunks'), series.get('posidle_buffer_bytes')]).toEqual([chunks, chunks]);
});

test('a file with unread bytes stands still since nothing of it was read, until it is read', () => {
  const exporter = new Exporter();
  exporter.scrape({ '/a': { size: 40, position: 40 } });
  const standstills = [BEHIND, BEHIND, BEHIND, { size: 100, position: 100 }].map((file) =>
    exporter.scrape({ '/a': file }).get('posidle_standstill_seconds'),
  );
  expect(standstills).toEqual([0, 5, 10, 0]);
});

test('a file that in_tail has not found waits from the first look that saw it', () => {
  const exporter = new Exporter();
  const waits = ['/new', '/new', '/newer'].map((path) =>
    exporter.scrape({}, 0, unfound(9, path)).get('posidle_undiscovered_seconds'),
  );
  expect(waits).toEqual([0, 5, 0]);
});

test('an unfinished last line is no lag', () => {
  const files = { '/a': { size: 9, position: 4, newlineLeft: false } };
  expect(new Exporter().scrape(files).get('posidle_lag_bytes')).toBe(0);
});

test('a file that left its path unread is reported, with what was left of it', () => {
  const exporter = new Exporter();
  exporter.scrape({ '/a': BEHIND });
  expect(Object.fromEntries(exporter.scrape({ '/a': { size: null, position: 40 } }))).toMatchObject({
    posidle_closed_unread_bytes: 60,
    posidle_doubts: 2,
  });
});

test('no more files than asked for have series of their own: those of unknown lag, and those furthest behind', () => {
  const sized = [10, 30, 20].map((size) => [`/${size}`, { size, position: 0 }] as const);
  const files: Files = Object.fromEntries([...sized, ['/gone', { size: null, position: 10 }]]);
  const series = new Exporter().scrape(files, 3);
  expect(singleIn(series, 'lag_bytes')).toEqual([
    `posidle_file_lag_bytes{path="/30",inode="7",pos_file="${POS}"}`,
    `posidle_file_lag_bytes{path="/20",inode="7",pos_file="${POS}"}`,
  ]);
  expect(singleIn(new Exporter().scrape(files))).toEqual([]);
});

test('the series of single files take 1 MiB at most, however long their paths are', () => {
  const path = (index: number) => `/${'\udcff'.repeat(1_000)}${index}`;
  const files = Array.from({ length: 500 }, (_, index) => [path(index), { size: index, position: 0 }]);
  const series = new Exporter().scrape(Object.fromEntries(files), 500);
  const single = singleIn(series);
  expect(single.join('').length).toBeLessThan(1.1 * 2 ** 20);
  expect(single.length).toBeGreaterThan(200);
  expect(single[0]).toContain('499"');
});

test('a path with quotes and line breaks spoils no scrape', () => {
  const series = new Exporter().scrape({ '/var/log/a"\\b': { size: 3, position: 0 } }, 5);
  expect(singleIn(series, 'lag_bytes')).toEqual([
    `posidle_file_lag_bytes{path="/var/log/a\\"\\\\b",inode="7",pos_file="${POS}"}`,
  ]);
});

test('series of files that are gone disappear', () => {
  const exporter = new Exporter();
  expect(singleIn(exporter.scrape({ '/a': READ }, 5))).toHaveLength(1);
  expect(singleIn(exporter.scrape({ '/a': { size: null, position: 5 } }, 5))).toEqual([]);
});

test('watch tells the files by the same names as export, and its own state', () => {
  const seen = seenAt([snapshot(0, [])]);
  const series = seriesIn(
    metricsOfWatch({ state: begin(0), seen }, { cpu: 1, cpuTime: 1_500, memory: 2 ** 20 }),
  );
  expect(Object.fromEntries(series)).toMatchObject({
    posidle_lag_bytes: 0,
    'posidle_files{state="blocked"}': 0,
    'posidle_state{state="waiting"}': 1,
    posidle_fluentd_cpu_seconds_total: 1.5,
    posidle_fluentd_memory_bytes: 2 ** 20,
  });
  expect(singleIn(series)).toEqual([]);
});

test('lines and records are told where a witness counts them', () => {
  const outputs = [output({ id: 'object:1', type: 'http', receipt: { took: 9, held: 2 } })];
  const seen = seenAt([snapshot(0, [], said(alive({ lines: 9, outputs })))]);
  const series = seriesIn(metricsOfWatch({ state: begin(0), seen }, undefined));
  expect(Object.fromEntries(series)).toMatchObject({
    posidle_read_lines: 9,
    'posidle_records{output="http",what="took"}': 9,
    'posidle_records{output="http",what="held"}': 2,
  });
  expect([...series.keys()].filter((name) => name.startsWith('posidle_records'))).toHaveLength(2);
});
