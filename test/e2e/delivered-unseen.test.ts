import { expect } from 'vitest';
import { type Delivery, DRAINED, ONE_VERSION, onFluentd, runDelivery, test } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, memoryBuffer, type Section, tail, toFile, toHttp } from '../support/fluentd-conf.ts';

const source = (site: Site) => tail(site.log('*.log'), site.pos, { refresh_interval: '2s' });
const UNPROVEN = { outcome: 'unproven', doubts: { worst: [{ kind: 'no-witness' }] } };

onFluentd(ONE_VERSION, (version) => {
  const run = (site: Site, out: Section, rest: Partial<Delivery> = {}) =>
    runDelivery(site, {
      version,
      conf: [source(site), out],
      main: () => site.write('app.log', 2_000),
      ...rest,
    });

  test('without a witness a file buffer that was delivered is unproven', async ({ site }) => {
    const out = toHttp(site.sink.port, fileBuffer(site.buffer, { flush_interval: '60s' }));
    const ended = await run(site, out, { args: ['--witness', 'off'] });
    expect(ended).toMatchObject({ lost: 0, code: 3, outcome: UNPROVEN });
  });

  test('the lines that a throttled input has read at the end of the grace period are delivered', async ({
    site,
  }) => {
    const ended = await runDelivery(site, {
      version,
      conf: [
        tail(site.log('*.log'), site.pos, { read_bytes_limit_per_second: '100k' }),
        toFile(site.out, fileBuffer(site.buffer)),
      ],
      main: () => site.write('app.log', 20_010),
      end: (posidle) => posidle.kill('SIGTERM'),
      args: ['--grace', '12s'],
    });
    expect(ended.delivered).toBeGreaterThan(1_500);
    // in_tail reads on until its shutdown, and a file buffer is not flushed there.
    expect(site.buffered()).toBeLessThan(4_000);
    expect(ended.seconds).toBeLessThan(30);
    const named = expect.arrayContaining([expect.objectContaining({ path: site.log('app.log') })]);
    expect(ended).toMatchObject({ code: 3, outcome: { outcome: 'not-drained', left: { worst: named } } });
  });

  test('a shell line that takes no further words loads the witness as well', async ({ site }) => {
    const command = (words: readonly string[]) => ['sh', '-c', `exec ${words.join(' ')}`];
    const out = toHttp(site.sink.port, memoryBuffer());
    expect(await run(site, out, { command, args: ['-c', site.conf] })).toMatchObject(DRAINED);
  });
});
