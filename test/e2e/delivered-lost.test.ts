import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { expect } from 'vitest';
import { onFluentd, said, test, watchDelivery } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { memoryBuffer, type Section, tail, toHttp } from '../support/fluentd-conf.ts';
import { OLDEST_AND_NEWEST } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const PARSE = { name: 'parse', params: { '@type': 'json' } };
const FILTER = { name: 'filter', arg: 'app', params: { '@type': 'parser', key_name: 'message' } };

const log = (site: Site) => site.log('app.log');
const source = (site: Site) => tail(log(site), site.pos, { rotate_wait: '1s', refresh_interval: '1s' });
const toSink = ({ sink }: Site) => toHttp(sink.port, memoryBuffer({ flush_interval: '1s' }));

const plain = (site: Site): Section[] => [source(site), toSink(site)];
const parsing = (site: Site): Section[] => [{ ...source(site), sections: [PARSE] }, toSink(site)];
const filtering = (site: Site): Section[] => [source(site), { ...FILTER, sections: [PARSE] }, toSink(site)];

/** Main goes on with the file that it has open, after Fluentd has let go of it. */
async function writeOn(site: Site, goAway: (path: string) => void): Promise<void> {
  const file = openSync(log(site), 'a');
  goAway(log(site));
  await said(site, 'it is closed', ({ closed }) => closed.length > 0);
  writeSync(file, 'id=900001\n');
  closeSync(file);
}

async function writeAnew(site: Site): Promise<void> {
  const text = (id: number) => `id=${id}\n${'.'.repeat(64)}\n`;
  for (const id of [900_001, 900_002]) {
    // Never shorter than before: in_tail would see that.
    const file = openSync(log(site), 'r+');
    writeSync(file, text(id), 0);
    closeSync(file);
    const size = text(id).length;
    await said(site, 'it is read', ({ files }) => files.some(({ position }) => position === size));
  }
}

/** in_tail looks once a second. */
const slow = (site: Site): Section[] => [
  tail(log(site), site.pos, { enable_stat_watcher: false, refresh_interval: '1s' }),
  toSink(site),
];

function renameAnew(site: Site): void {
  writeFileSync(log(site), 'id=900001\n'.repeat(100));
  renameSync(log(site), `${log(site)}.1`);
  writeFileSync(log(site), '');
}

type Row = [string, (site: Site) => Section[], (site: Site) => unknown, kind: string];

/** In 1.14.6 a list is a record. */
const PASSED_OVER: Row[] = [
  ['that a parser passes over in silence', parsing, (site) => appendFileSync(log(site), '[]\n'), 'heard'],
  ['that a filter passes over in silence', filtering, (site) => appendFileSync(log(site), '[]\n'), 'heard'],
];

/** in_tail looks once a minute, and then for the file of that second. */
const dated = (site: Site): Section[] => [tail(site.log('%S.log'), site.pos), toSink(site)];

async function writeThisSecond(site: Site): Promise<void> {
  const second = () => String(new Date().getSeconds()).padStart(2, '0');
  await said(site, 'a file is seen', ({ unfound }) => {
    writeFileSync(site.log(`${second()}.log`), 'id=900001\n');
    return unfound.length > 0;
  });
  const last = second();
  await until('the second is over', () => second() !== last);
}

onFluentd(OLDEST_AND_NEWEST, (version) => {
  test.for<Row>([
    ...(version === '1.14.6' ? [] : PASSED_OVER),
    [
      'of a file in another directory that Fluentd has let go of',
      plain,
      (site) =>
        writeOn(site, (path) => {
          mkdirSync(`${site.dir}/elsewhere`);
          renameSync(path, `${site.dir}/elsewhere/moved`);
        }),
      'let-go',
    ],
    ['of a deleted file that Fluentd has let go of', plain, (site) => writeOn(site, rmSync), 'let-go'],
    ['of a file that was written anew with the same size and end', plain, writeAnew, 'written-anew'],
    ['of a file that was written anew and renamed before Fluentd looked', slow, renameAnew, 'written-anew'],
    [
      'of a file that looks like the copy of one that is cut',
      plain,
      (site) => {
        writeFileSync(`${log(site)}.1`, 'id=900001\n');
        truncateSync(log(site));
      },
      'nobody-saw-it-read',
    ],
    [
      'of a rotated file with an old date',
      plain,
      (site) => {
        writeFileSync(`${log(site)}.1`, 'id=900001\n');
        utimesSync(`${log(site)}.1`, 0, 0);
      },
      'nobody-saw-it-read',
    ],
    [
      'of a file that had been rotated before anybody saw it',
      (site) => [tail(site.log('*.log'), site.pos), toSink(site)],
      (site) => writeFileSync(site.log('other.log.1'), 'id=900001\n'),
      'nobody-saw-it-read',
    ],
    ['of a dated file whose time was over before Fluentd looked', dated, writeThisSecond, 'unfound'],
  ])('lines %s are told', async ([, conf, main, kind], { site }) => {
    writeFileSync(log(site), '{"message":"{}"}\n');
    const args = ['--pid-file', site.pidFile, '--drain-timeout', '10s'];
    const ended = await watchDelivery(site, {
      version,
      conf: conf(site),
      args,
      main: async () => {
        await said(site, 'it is ready', ({ isReady }) => isReady);
        if (conf !== dated)
          await said(site, 'it is read', ({ files }) => files.some(({ position }) => position > 0));
        await main(site);
      },
    });
    const { outcome, left, doubts } = ended.outcome;
    expect(outcome).not.toBe('drained');
    expect([...left.worst, ...doubts.worst]).toContainEqual(expect.objectContaining({ kind }));
  });
});
