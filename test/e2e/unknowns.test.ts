import { chmodSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ONE_VERSION, onFluentd, startBeside, test, watchDelivery } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  fileBuffer,
  memoryBuffer,
  renderConf,
  type Section,
  tail,
  toFile,
  toHttp,
} from '../support/fluentd-conf.ts';
import { needsRoot } from '../support/needs.ts';
import { CONTAINER, POSIDLE, startPosidle } from '../support/posidle.ts';
import { until } from '../support/until.ts';

const NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];

const source = (site: Site, refresh: string) =>
  tail(site.log('*.log'), site.pos, { refresh_interval: refresh });
const toSink = ({ sink }: Site) => toHttp(sink.port, memoryBuffer({ flush_interval: '1s' }));
onFluentd(ONE_VERSION, (version) => {
  /** No fluentd on PATH can be asked what Ruby gives, and nobody looks inside. */
  const blind = (site: Site) => ({
    version,
    witness: false,
    wrapper: ['env', `PATH=${site.dir}`],
    args: ['--drain-timeout', '6s'],
  });

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

  test('without a witness a pos file that is cut short under Fluentd is a doubt, and Fluentd is flushed', async ({
    site,
  }) => {
    const out = toFile(site.out, fileBuffer(site.buffer, { flush_interval: '60s' }));
    const ended = await watchDelivery(site, {
      ...blind(site),
      conf: [source(site, '1s'), out],
      before: () => site.write('app.log', 1_000),
      main: async (posidle) => {
        await posidle.logged(/→ watching/);
        await site.isRead('app.log');
        truncateSync(site.pos);
        await site.write('app.log', 1_000);
        await until('all is in the buffer', () => site.buffered() === 2_000);
      },
    });
    expect(ended).toMatchObject({ lost: 0, code: 3, outcome: { outcome: 'unproven', left: { count: 0 } } });
    expect(ended.outcome.doubts.worst).toContainEqual(
      expect.objectContaining({ kind: 'pos-file', about: site.pos }),
    );
    expect(site.buffered()).toBe(0);
  });

  test('a directory that posidle may not list is a doubt that names it', async ({ site, skip }) => {
    needsRoot({ skip });
    await site.write('app.log', 1);
    await startBeside(site, { version, conf: [source(site, '30s'), toSink(site)] }).ready;
    await site.isRead('app.log');
    chmodSync(site.dir, 0o755);
    chmodSync(site.logs, 0o711);
    await site.write('late.log', 1_000);
    const words = ['watch', '-c', site.conf, '--start-timeout', '1s', '--witness', 'off'];
    const run = startPosidle(words, { wrapper: [...CONTAINER, ...NOBODY, ...POSIDLE] });
    expect(await run.exited).toBe(4);
    const outcome = run.log().at(-1)?.outcome;
    expect(outcome).toMatchObject({ outcome: 'unproven' });
    expect(JSON.stringify(outcome)).toContain(site.logs);
  });
});
