import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  type Delivery,
  DRAINED,
  ONE_VERSION,
  onFluentd,
  startBeside,
  test,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  fileBuffer,
  memoryBuffer,
  type Params,
  renderConf,
  type Section,
  tail,
  toFile,
  toHttp,
} from '../support/fluentd-conf.ts';
import { needsRoot } from '../support/needs.ts';
import { CLI, type PosidleRun, startPosidle } from '../support/posidle.ts';
import { OLDEST_AND_NEWEST } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
/** Where no Fluentd of this machine is seen. */
const ELSEWHERE = ['unshare', '-pf', '--kill-child', '--mount-proc'];

const source = (site: Site, refresh: string, path = site.log('*.log')) =>
  tail(path, site.pos, { refresh_interval: refresh });
const toSink = ({ sink }: Site) => toHttp(sink.port, memoryBuffer({ flush_interval: '1s' }));
/** Main writes a late file once the first one is read. */
const lateFile = (site: Site): Pick<Delivery, 'before' | 'main'> => ({
  before: () => site.write('app.log', 1),
  main: async (posidle) => {
    await posidle.logged(/→ watching/);
    await site.isRead('app.log');
    await site.write('late.log', 1_000);
  },
});

onFluentd(ONE_VERSION, (version) => {
  /** No fluentd on PATH can be asked what Ruby gives, and nobody looks inside. */
  const blind = (site: Site) => ({
    version,
    witness: false,
    wrapper: ['env', `PATH=${site.dir}`],
    args: ['--drain-timeout', '6s'],
  });

  test.for([
    ['a glob', '*.pos'],
    ['another spelling', 'logs/../app.pos'],
  ] as const)(
    'a pos file named by %s is still that of fluent.conf: a file not yet discovered is waited for',
    async ([, name], { site }) => {
      const args = ['-p', `${site.dir}/${name}`];
      const conf = [source(site, '6s'), toSink(site)];
      expect(await watchDelivery(site, { version, conf, args, ...lateFile(site) })).toMatchObject(DRAINED);
    },
  );

  test('without a witness outputs in a file that cannot be included may hold a buffer: it is flushed', async ({
    site,
  }) => {
    const out = toFile(site.out, fileBuffer(site.buffer, { flush_interval: '60s' }));
    writeFileSync(join(site.dir, 'more.conf'), renderConf([out]));
    const conf: Section[] = [
      { ...source(site, '1s'), params: { ...source(site, '1s').params, '@label': '@MORE' } },
      { name: 'label', arg: '@MORE', params: { '@include': '"#{Dir.pwd}/more.conf"' } },
    ];
    const main = async () => {
      await site.write('app.log', 1_000);
      await site.isRead('app.log');
    };
    const ended = await watchDelivery(site, { ...blind(site), conf, main });
    expect(ended).toMatchObject({ lost: 0, code: 3, outcome: { outcome: 'unproven', left: { count: 0 } } });
    expect(site.buffered()).toBe(0);
    expect(ended.log).toContainEqual(
      expect.objectContaining({ level: 'warn', msg: expect.stringMatching(/Dir\.pwd/) }),
    );
  });

  test.for<[string, (site: Site) => Section[], RegExp]>([
    [
      'a path that cannot be evaluated may have new files',
      (site) => [source(site, '30s', '"#{Dir.pwd}/logs/*.log"')],
      /path could not be evaluated/,
    ],
    [
      'an in_tail whose pos_file cannot be evaluated may have files left',
      (site) => [
        source(site, '30s', site.log('app.log')),
        tail(site.log('other.log'), '"#{Dir.pwd}/other.pos"'),
      ],
      /^posidle cannot tell which files belong to further sources: .*Dir\.pwd/,
    ],
  ])(
    'without a witness %s: the drain goes to its bound, and says why',
    async ([, sources, why], { site }) => {
      const conf = [...sources(site), toSink(site)];
      const ended = await watchDelivery(site, { ...blind(site), conf, ...lateFile(site) });
      expect(ended).toMatchObject({ code: 3, outcome: { end: 'stopped', outcome: 'unproven' } });
      expect(ended.outcome.doubts.worst).toContainEqual(
        expect.objectContaining({ kind: 'unlisted', why: expect.stringMatching(why) }),
      );
    },
  );

  test('a directory that posidle may not list is a doubt that names it', async ({ site, skip }) => {
    needsRoot({ skip });
    await site.write('app.log', 1);
    await startBeside(site, { version, conf: [source(site, '30s'), toSink(site)] }).ready;
    await site.isRead('app.log');
    chmodSync(site.dir, 0o755);
    chmodSync(site.logs, 0o711);
    await site.write('late.log', 1_000);
    const words = ['watch', '-c', site.conf, '--start-timeout', '1s', '--witness', 'off'];
    const run = startPosidle(words, { wrapper: [...ELSEWHERE, ...NOBODY, process.execPath, CLI] });
    expect(await run.exited).toBe(4);
    const outcome = run.log().at(-1)?.outcome;
    expect(outcome).toMatchObject({ outcome: 'unproven' });
    expect(JSON.stringify(outcome)).toContain(site.logs);
  });
});

const throttled = (site: Site, params: Params) => [
  tail(site.log('app.log'), site.pos, { refresh_interval: '1s', ...params }),
  toSink(site),
];

onFluentd(
  OLDEST_AND_NEWEST.filter((one) => one === '1.14.6'),
  (version) => {
    test('the rest of a throttled file that was renamed, which no pos file shows, is waited for', async ({
      site,
    }) => {
      await site.write('app.tmp', 600);
      renameSync(site.log('app.tmp'), site.log('app.log'));
      const main = async (posidle: PosidleRun) => {
        await posidle.logged(/→ watching/);
        renameSync(site.log('app.log'), site.log('app.log.1'));
        await site.write('app.log', 1);
        const now = statSync(site.log('app.log')).ino.toString(16).padStart(16, '0');
        await until('the pos file has the new file', () => readFileSync(site.pos, 'utf8').includes(now));
      };
      const conf = throttled(site, { read_bytes_limit_per_second: 8_192 });
      const ended = await watchDelivery(site, { version, conf, main });
      expect(ended).toMatchObject({ lost: 0, code: 0 });
    });
  },
);
