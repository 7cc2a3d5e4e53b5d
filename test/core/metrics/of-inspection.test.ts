import { expect, test } from 'vitest';
import { History } from '../../../src/core/inspect/history.ts';
import { metricsOfInspection } from '../../../src/core/metrics/of-inspection.ts';
import { Inspector } from '../../../src/tasks/inspect-look.ts';
import { LOG, POS, posText } from '../../support/builders.ts';
import { FakeHost } from '../../support/fake-host.ts';
import { inspectedBy } from '../../support/inspected-by.ts';

interface Line {
  readonly path: string;
  readonly position: number;
  readonly inode: number;
}

/** An exporter in a fake world, with a look every five seconds. */
class Exporter {
  readonly host = new FakeHost();
  readonly history = new History();
  readonly #inspector = new Inspector(this.host, inspectedBy(this.host, [POS]), this.history);
  #looks = 0;

  write(...lines: readonly (Line & { readonly size: number })[]): void {
    for (const { path, inode, size } of lines) this.host.writeFile(path, '\n'.repeat(size), `${inode}`);
    this.host.writeFile(POS, posText(lines));
  }

  async scrape(perFile = 0): Promise<ReadonlyMap<string, number>> {
    const found = await this.#inspector.look();
    this.#looks += 1;
    const text = metricsOfInspection({ found, history: this.history, took: 20, looks: this.#looks }, perFile);
    await this.host.sleep(this.host.now() + 5_000);
    return seriesIn(text);
  }
}

/** By name and labels. Each metric tells its help and type once, and no series comes twice. */
function seriesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.trimEnd().split('\n');
  const series = lines.filter((line) => !line.startsWith('#'));
  expect(new Set(lines).size).toBe(lines.length);
  const pairs = series.map((line) => /^(.*) (\S+)$/.exec(line) ?? []);
  expect(new Set(pairs.map(([, name]) => name)).size).toBe(series.length);
  return new Map(pairs.map(([, name = '', value]) => [name, Number(value)]));
}

const namesOf = (series: ReadonlyMap<string, number>) => [...series.keys()];
const isSingle = (name: string) => name.startsWith('posidle_file_');

test('by default the files are told as totals and maxima, each state and verdict among them', async () => {
  const exporter = new Exporter();
  exporter.write(
    { path: LOG, position: 40, inode: 7, size: 100 },
    { path: '/var/log/web.log', position: 5, inode: 8, size: 5 },
  );
  const series = await exporter.scrape();
  expect(namesOf(series).filter(isSingle)).toEqual([]);
  expect(Object.fromEntries(series)).toMatchObject({
    posidle_lag_bytes: 60,
    posidle_unknown_lag_files: 0,
    'posidle_files{state="behind"}': 1,
    'posidle_files{state="caught-up"}': 1,
    'posidle_files{state="blocked"}': 0,
    'posidle_verdict_files{verdict="ok"}': 2,
    'posidle_verdict_files{verdict="falling behind"}': 0,
    'posidle_verdict_files{verdict="stalled"}': 0,
    'posidle_verdict_files{verdict="losing"}': 0,
    posidle_undiscovered_bytes: 0,
    posidle_abandoned_bytes: 0,
    posidle_unreadable_pos_files: 0,
    posidle_looks_total: 1,
    posidle_look_duration_seconds: 0.02,
  });
});

test('what stands still is told as stalled, with its age, until it is read', async () => {
  const exporter = new Exporter();
  exporter.write({ path: LOG, position: 40, inode: 7, size: 40 });
  await exporter.scrape();
  exporter.write({ path: LOG, position: 40, inode: 7, size: 100 });
  for (let look = 0; look < 3; look += 1) await exporter.scrape();
  const still = await exporter.scrape();
  expect(still.get('posidle_verdict_files{verdict="stalled"}')).toBe(1);
  expect(still.get('posidle_lag_seconds')).toBe(20);
  expect(still.get('posidle_lag_seconds_known')).toBe(1);
  expect(still.get('posidle_oldest_position_age_seconds')).toBeGreaterThanOrEqual(15);
  exporter.write({ path: LOG, position: 100, inode: 7, size: 100 });
  const read = await exporter.scrape();
  expect(read.get('posidle_verdict_files{verdict="stalled"}')).toBe(0);
  expect(read.get('posidle_lag_seconds')).toBe(0);
  expect(read.get('posidle_oldest_position_age_seconds')).toBe(0);
});

test('of what was late at the first look it is told how long it has waited at least', async () => {
  const exporter = new Exporter();
  exporter.write({ path: LOG, position: 40, inode: 7, size: 100 });
  await exporter.scrape();
  const series = await exporter.scrape();
  expect(series.get('posidle_lag_seconds')).toBe(5);
  expect(series.get('posidle_lag_seconds_known')).toBe(0);
});

test('a file of which nobody knows the lag is counted, and takes nothing from the total', async () => {
  const exporter = new Exporter();
  exporter.write(
    { path: LOG, position: 40, inode: 7, size: 100 },
    { path: '/var/log/gone.log', position: 5, inode: 8, size: 9 },
  );
  exporter.host.files.delete('/var/log/gone.log');
  const series = await exporter.scrape(10);
  expect(series.get('posidle_lag_bytes')).toBe(60);
  expect(series.get('posidle_unknown_lag_files')).toBe(1);
  expect(series.get('posidle_verdict_files{verdict="unknown"}')).toBe(1);
});

test('no more files than asked for have series of their own, those that are furthest behind', async () => {
  const exporter = new Exporter();
  exporter.write(
    ...[10, 30, 20].map((lag, at) => ({
      path: `/var/log/${lag}.log`,
      position: 0,
      inode: at + 1,
      size: lag,
    })),
  );
  const series = await exporter.scrape(2);
  const lags = namesOf(series).filter((name) => name.startsWith('posidle_file_lag_bytes'));
  expect(lags).toEqual([
    `posidle_file_lag_bytes{path="/var/log/30.log",inode="2",pos_file="${POS}"}`,
    `posidle_file_lag_bytes{path="/var/log/20.log",inode="3",pos_file="${POS}"}`,
  ]);
  expect(namesOf(series).filter(isSingle)).toHaveLength(8);
});

test('the log of a container is told with its namespace, Pod and container', async () => {
  const exporter = new Exporter();
  const path = `/var/log/containers/web-1_shop_nginx-${'a'.repeat(64)}.log`;
  exporter.write({ path, position: 0, inode: 1, size: 3 });
  const series = await exporter.scrape(1);
  expect(
    series.get(
      `posidle_file_lag_bytes{namespace="shop",pod="web-1",container="nginx",path="${path}",inode="1",pos_file="${POS}"}`,
    ),
  ).toBe(3);
});

test('a path with quotes and line breaks, or two that look the same, spoil no scrape', async () => {
  const exporter = new Exporter();
  exporter.write({ path: '/var/log/a"\\b', position: 0, inode: 1, size: 3 });
  const series = await exporter.scrape(5);
  expect(namesOf(series).filter((name) => name.startsWith('posidle_file_lag_bytes'))).toEqual([
    `posidle_file_lag_bytes{path="/var/log/a\\"\\\\b",inode="1",pos_file="${POS}"}`,
  ]);
});

test('series of files that are gone disappear', async () => {
  const exporter = new Exporter();
  exporter.write({ path: LOG, position: 3, inode: 1, size: 3 });
  expect(namesOf(await exporter.scrape(5)).filter(isSingle)).toHaveLength(4);
  exporter.host.files.delete(LOG);
  expect(namesOf(await exporter.scrape(5)).filter(isSingle)).toEqual([]);
});

test('it lives on while the pos file is missing, and says so', async () => {
  const exporter = new Exporter();
  exporter.write({ path: LOG, position: 3, inode: 1, size: 3 });
  await exporter.scrape();
  exporter.host.files.delete(POS);
  expect((await exporter.scrape()).get('posidle_unreadable_pos_files')).toBe(1);
  exporter.write({ path: LOG, position: 3, inode: 1, size: 8 });
  const back = await exporter.scrape();
  expect(back.get('posidle_unreadable_pos_files')).toBe(0);
  expect(back.get('posidle_lag_bytes')).toBe(5);
});

test('a node that rotates all the time leaves no series and no memory behind', async () => {
  const exporter = new Exporter();
  const FILES = 50;
  let inode = 0;
  for (let look = 0; look < 60; look += 1) {
    exporter.write(
      ...Array.from({ length: FILES }, (_, at) => {
        inode += 1;
        return { path: `/var/log/${at}.log`, position: look % 7, inode, size: 10 };
      }),
    );
    const series = await exporter.scrape(1_000);
    expect(namesOf(series).filter(isSingle)).toHaveLength(4 * FILES);
    expect(series.get('posidle_lag_bytes')).toBe(FILES * (10 - (look % 7)));
  }
  const known = Array.from({ length: inode }, (_, at) => at + 1).filter((number) => {
    const path = `/var/log/${(number - 1) % FILES}.log`;
    return exporter.history.find(POS, { path, inode: `${number}` }) !== undefined;
  });
  // What is gone is forgotten after a minute.
  expect(known.length).toBeLessThanOrEqual(14 * FILES);
  expect(Math.min(...known)).toBeGreaterThan(inode - 14 * FILES);
});
