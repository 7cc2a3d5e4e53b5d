import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { expect } from 'vitest';
import { onFluentd, said, startBeside, test, watchDelivery } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  fileBuffer,
  filter,
  memoryBuffer,
  output,
  type Params,
  renderConf,
  type Section,
  tail,
  toHttp,
  toStdout,
} from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import { workersOf } from '../support/own-processes.ts';
import { type FluentdRun, OLDEST_AND_NEWEST } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

interface Loss {
  /** Completes "lines … are reported". */
  readonly lines: string;
  /** By default the log goes to a buffer in memory that is sent each second. */
  readonly conf?: (site: Site) => Section[] | Promise<Section[]>;
  /** main does this when its twenty lines are read. */
  readonly main?: (site: Site, fluentd: FluentdRun) => unknown;
  /** A text in what is left or doubted. */
  readonly kind: string;
  readonly why?: RegExp;
  /** None of the twenty lines arrives. */
  readonly isAll?: boolean;
  readonly args?: readonly string[];
  /** Not on 1.14.6. */
  readonly isNew?: boolean;
}

const log = (site: Site) => site.log('app.log');
const fixed = (site: Site, params: Params = {}) =>
  tail(log(site), site.pos, { rotate_wait: '1s', refresh_interval: '1s', ...params });
const toSink = ({ sink }: Site, params: Params = { flush_interval: '1s' }) =>
  toHttp(sink.port, memoryBuffer(params));
/** Nothing flushes by itself. */
const LAZY = { flush_mode: 'interval', flush_interval: 300 };
const AT_ONCE = { flush_mode: 'immediate', retry_wait: '0.1', retry_max_times: 4, retry_randomize: false };
/** Fluentd puts chunks aside here: all tests share /tmp/fluent. */
const rootDir = (site: Site): Section => ({ name: 'system', params: { root_dir: `${site.dir}/root` } });
const JSON_PARSER: Section = { name: 'parse', params: { '@type': 'json' } };
const parserFilter = (params: Params = {}) =>
  filter('parser', { key_name: 'message', ...params }, [JSON_PARSER]);

/** The witness has seen the file as long as it is now. */
const seenWhole = (site: Site) =>
  said(site, 'it is seen', ({ files }) => files.some(({ size }) => size === statSync(log(site)).size));

/** Main goes on with the file that it has open, after Fluentd has let go of it. */
async function writeOn(site: Site, goAway: (path: string) => void): Promise<void> {
  const file = openSync(log(site), 'a');
  goAway(log(site));
  await said(site, 'it is closed', ({ closed }) => closed.length > 0);
  writeSync(file, 'id=900001\n');
  closeSync(file);
}

async function writeAnew(site: Site): Promise<void> {
  const text = (id: number) => `id=${id}\n`.padEnd(3_000, '.').replace(/.$/, '\n');
  for (const id of [900_001, 900_002]) {
    // Never shorter than before: in_tail would see that.
    const file = openSync(log(site), 'r+');
    writeSync(file, text(id), 0);
    closeSync(file);
    await said(site, 'it is read', ({ files }) => files.some(({ position }) => position === 3_000));
  }
}

function renameAnew(site: Site): void {
  writeFileSync(log(site), 'id=900001\n'.repeat(400));
  renameSync(log(site), `${log(site)}.1`);
  writeFileSync(log(site), '');
}

/** in_tail looks once a minute, and then for the file of that second. */

async function cutUnread(site: Site, fluentd: FluentdRun): Promise<void> {
  site.sink.phase = 'refusing';
  const isFull = async () => {
    await site.write('app.log', 100);
    return /buffer overflow/.test(fluentd.output());
  };
  await until('the buffer is full', isFull, { every: 300 });
  // in_tail holds what it had read, and looks no more.
  await site.write('app.log', 100);
  await seenWhole(site);
  truncateSync(log(site));
  await site.write('app.log', 5);
  await seenWhole(site);
  site.sink.phase = 'up';
}

/**
 * One emit that is too large for a chunk: seven lines fill the staged one, two more chunks follow, and the last one is
 * staged under the same metadata. To enqueue the first, Fluentd stages the third in the place of the last (buffer.rb,
 * write and write_step_by_step).
 */
function forgetChunk(site: Site): void {
  const lines = (count: number, bytes: number) =>
    'id=900001'
      .padEnd(bytes - '{"message":""}\n'.length, '.')
      .concat('\n')
      .repeat(count);
  writeFileSync(site.log('other.log'), lines(7, 560) + lines(18, 580));
}

async function killWorker(site: Site): Promise<void> {
  const [worker = 0] = workersOf(site.dir);
  process.kill(worker, 'SIGKILL');
  await until('another worker', () => workersOf(site.dir).some((pid) => pid !== worker));
}

const inMemory = async (site: Site) => [
  { name: 'system', params: { rpc_endpoint: `127.0.0.1:${await freePort()}` } },
  fixed(site),
  toSink(site, { ...LAZY, flush_at_shutdown: false }),
];

async function reload(site: Site, output?: Section): Promise<void> {
  const conf = readFileSync(site.conf, 'utf8');
  const [, rpc] = /rpc_endpoint (.*)/.exec(conf) ?? [];
  if (output !== undefined) writeFileSync(site.conf, conf.replace(/<match.*/s, renderConf([output])));
  await fetch(`http://${rpc}/api/config.gracefulReload`);
  await said(site, 'it is reloaded', ({ ends }) => ends.some(({ buffer }) => buffer === 'reloaded'));
}

const LOSSES: readonly Loss[] = [
  // In 1.14.6 a list is a record.
  {
    lines: 'that a parser passes over in silence',
    conf: (site) => [{ ...fixed(site), sections: [JSON_PARSER] }, toSink(site)],
    main: (site) => appendFileSync(log(site), '[]\n'),
    kind: 'undelivered',
    isNew: true,
  },
  {
    lines: 'that a filter passes over in silence',
    conf: (site) => [fixed(site), parserFilter(), toSink(site)],
    main: (site) => appendFileSync(log(site), '[]\n'),
    kind: 'undelivered',
    isNew: true,
  },
  {
    lines: 'that a parser drops in silence',
    conf: (site) => [fixed(site), parserFilter({ emit_invalid_record_to_error: false }), toSink(site)],
    kind: 'undelivered',
    isAll: true,
  },
  {
    lines: 'that a filter could not take',
    conf: (site) => [
      fixed(site),
      filter('record_transformer', { enable_ruby: true }, [
        // biome-ignore lint/suspicious/noTemplateCurlyInString: Ruby that Fluentd evaluates
        { name: 'record', params: { x: '${raise "no"}' } },
      ]),
      toSink(site),
    ],
    kind: 'heard',
    isAll: true,
  },
  {
    // Fluentd says it at the first, second, fourth … time, and its own events come first.
    lines: 'that no <match> takes, of which Fluentd says nothing more,',
    conf: (site) => [
      fixed(site),
      output('relabel', { '@label': '@NOWHERE' }),
      { name: 'label', arg: '@NOWHERE', sections: [{ ...output('null'), arg: 'other' }] },
    ],
    kind: 'undelivered',
    isAll: true,
  },
  {
    lines: 'in chunks beyond the retry limit, with a secondary that is dead too,',
    conf: (site) => {
      const { sections = [], ...http } = toSink(site, AT_ONCE);
      const secondary = { name: 'secondary', params: { '@type': 'http', endpoint: 'http://127.0.0.1:1/' } };
      site.sink.phase = 'refusing';
      return [rootDir(site), fixed(site), { ...http, sections: [...sections, secondary] }];
    },
    main: (_, fluentd) =>
      until('it is given up', () => /hit limit for retries/i.test(fluentd.output()), { within: 60_000 }),
    kind: 'undelivered',
    isAll: true,
  },
  {
    lines: 'in chunks of a command beyond the retry limit, of which Fluentd says nothing,',
    conf: (site) => [
      rootDir(site),
      fixed(site),
      output('exec', { command: "sh -c 'exit 1' --" }, [
        { name: 'format', params: { '@type': 'json' } },
        memoryBuffer({ flush_mode: 'immediate', retry_max_times: 0 }),
      ]),
    ],
    main: (_, fluentd) =>
      until('it failed', () => fluentd.output().includes('command exits with error code')),
    kind: 'undelivered',
    why: /^20 records lost \(retries used up\)$/,
    isAll: true,
  },
  {
    lines: 'in a chunk that Fluentd forgets where it splits lines into chunks',
    conf: (site) => [
      tail(site.log('*.log'), site.pos, { refresh_interval: '1s' }),
      output('file', { path: site.out }, [
        { name: 'format', params: { '@type': 'json' } },
        fileBuffer(site.buffer, { ...LAZY, chunk_limit_size: 4_000 }),
      ]),
    ],
    main: forgetChunk,
    kind: 'unbalanced',
  },
  {
    lines: 'in the memory of a worker that was killed',
    conf: (site) => [fixed(site), toSink(site, LAZY)],
    main: killWorker,
    kind: 'worker-died',
    isAll: true,
  },
  {
    lines: 'in the memory of an output that a reload took away',
    conf: inMemory,
    main: (site) => reload(site, toStdout()),
    kind: 'reloaded',
    isAll: true,
  },
  {
    lines: 'in the memory of an output that a reload began anew',
    conf: inMemory,
    main: (site) => reload(site),
    kind: 'reloaded',
    isAll: true,
  },
  {
    lines: 'that copytruncate cut off while a full buffer kept in_tail from looking',
    conf: (site) => [
      fixed(site),
      toSink(site, {
        ...{ chunk_limit_size: '4k', total_limit_size: '8k', overflow_action: 'block' },
        ...{ flush_interval: 1, retry_wait: 1, retry_max_interval: 1 },
      }),
    ],
    main: cutUnread,
    kind: 'cut-short-unread',
  },
  {
    lines: 'of a file in another directory that Fluentd has let go of',
    main: (site) =>
      writeOn(site, (path) => {
        mkdirSync(`${site.dir}/elsewhere`);
        renameSync(path, `${site.dir}/elsewhere/moved`);
      }),
    kind: 'let-go',
  },
  {
    lines: 'of a deleted file that Fluentd has let go of',
    main: (site) => writeOn(site, rmSync),
    kind: 'let-go',
  },
  {
    lines: 'of a file that was written anew with the same size and end',
    main: writeAnew,
    kind: 'written-anew',
  },
  {
    lines: 'of a file that was written anew and renamed before Fluentd looked',
    conf: (site) => [fixed(site, { enable_stat_watcher: false }), toSink(site)],
    main: renameAnew,
    kind: 'written-anew',
  },
  {
    lines: 'of a file that looks like the copy of one that is cut',
    main: (site) => {
      writeFileSync(`${log(site)}.1`, 'id=900001\n');
      truncateSync(log(site));
    },
    kind: 'nobody-saw-it-read',
  },
  {
    lines: 'of a rotated file with an old date',
    main: (site) => {
      writeFileSync(`${log(site)}.1`, 'id=900001\n');
      utimesSync(`${log(site)}.1`, 0, 0);
    },
    kind: 'nobody-saw-it-read',
  },
  {
    lines: 'of a file that had been rotated before anybody saw it',
    conf: (site) => [tail(site.log('*.log'), site.pos), toSink(site)],
    main: (site) => writeFileSync(site.log('other.log.1'), 'id=900001\n'),
    kind: 'nobody-saw-it-read',
  },
];

onFluentd(OLDEST_AND_NEWEST, (version) => {
  const known = LOSSES.filter(({ isNew }) => !isNew || version !== '1.14.6');
  test.for(known)('lines $lines are reported', async ({ conf, main, args = [], ...told }, { site }) => {
    await site.write('app.log', 20);
    const sections = (await conf?.(site)) ?? [fixed(site), toSink(site)];
    const delivery = {
      version,
      conf: sections,
      args: ['--drain-timeout', '15s', ...args],
    };
    const fluentd = startBeside(site, delivery);
    const ended = await watchDelivery(
      site,
      {
        ...delivery,
        main: async () => {
          await said(site, 'it is read', ({ files }) => files.some(({ position }) => position > 0));
          await main?.(site, fluentd);
        },
      },
      fluentd,
    );
    const { outcome, left, doubts } = ended.outcome;
    expect(outcome).not.toBe('drained');
    const why = told.why === undefined ? {} : { why: expect.stringMatching(told.why) };
    expect([...left.worst, ...doubts.worst]).toContainEqual(
      expect.objectContaining({ kind: told.kind, ...why }),
    );
    if (told.isAll) expect(ended.lost).toBe(20);
  });
});
