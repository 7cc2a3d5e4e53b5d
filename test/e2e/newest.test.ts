import { mkdirSync } from 'node:fs';
import { expect } from 'vitest';
import { DRAINED, onFluentd, startBeside, test, watchDelivery } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, memoryBuffer, type Section, tail, toHttp } from '../support/fluentd-conf.ts';
import type { PosidleRun } from '../support/posidle.ts';
import { NEWEST } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

/** New in this version: four threads parse, and in_tail sees a new directory at once. Its next timed look would come too late. */
const THREADED = { num_threads: 4, enable_dir_watcher: true, refresh_interval: '10m' };

onFluentd([NEWEST], (version) => {
  /** Two logs get much at once, a directory that nobody has seen gets something; then main ends. */
  const deliver = async (site: Site, output: Section, during?: (posidle: PosidleRun) => Promise<void>) => {
    for (const name of ['a.log', 'b.log']) await site.write(name, 1);
    const conf = [tail(site.log('**/*.log'), site.pos, THREADED), output];
    const fluentd = startBeside(site, { version, conf });
    await fluentd.ready;
    expect(fluentd.output()).toMatch(/in_tail worker parsing enabled with 4 threads/);
    let flushed: Promise<void> | undefined;
    const main = async (posidle: PosidleRun) => {
      await posidle.logged(/→ watching/);
      for (const name of ['a.log', 'b.log']) await site.write(name, 40_000);
      mkdirSync(site.log('new'));
      await site.write('new/late.log', 1_000);
      flushed = during?.(posidle);
    };
    const ended = await watchDelivery(site, { version, conf, main }, fluentd);
    await flushed;
    expect(ended).toMatchObject(DRAINED);
    expect(site.sink.tally.duplicates).toBe(0);
  };

  test('nothing is lost where threads parse, directories are watched, and a file buffer may evacuate its chunks', async ({
    site,
  }) => {
    const buffer = fileBuffer(site.buffer, { flush_interval: '10m', evacuate_limit_size: '1g' });
    const { params, ...rest } = toHttp(site.sink.port, buffer);
    await deliver(site, { ...rest, params: { ...params, '@id': 'sink' } });
  });

  test('a memory buffer that is in retry is waited for', async ({ site }) => {
    site.sink.phase = 'refusing';
    const patience = { flush_interval: '1s', retry_wait: '1s', retry_max_interval: '1s' };
    await deliver(site, toHttp(site.sink.port, memoryBuffer(patience)), async (posidle) => {
      await posidle.logged(/→ draining/);
      const asked = site.sink.requests;
      // One try a second: for longer than posidle waits where nothing is left.
      await until('Fluentd has tried four times', () => site.sink.requests >= asked + 4);
      expect(posidle.log().some(({ msg }) => /^(sent SIGINT|told .* to stop)/.test(msg))).toBe(false);
      site.sink.phase = 'up';
    });
  });
});
