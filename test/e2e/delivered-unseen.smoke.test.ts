import { expect } from 'vitest';
import { onFluentd, runDelivery, SOON, test, VERSIONS_AND_OLDEST } from '../support/delivery.ts';
import { memoryBuffer, tail, toHttp } from '../support/fluentd-conf.ts';

const MONITOR_ADDED = /monitor_agent.*\d{4,5}/;

onFluentd(VERSIONS_AND_OLDEST, (version) => {
  test('a memory buffer is made visible, and is drained', async ({ site }) => {
    const ended = await runDelivery(site, {
      version,
      conf: [
        tail(site.log('*.log'), site.pos, { refresh_interval: '2s' }),
        toHttp(site.sink.port, memoryBuffer()),
      ],
      main: () => site.write('app.log', 2_000),
      args: ['--witness', 'off'],
    });
    expect(ended).toMatchObject({
      lost: 0,
      code: 0,
      outcome: { drained: 'drained', gate: null, outputs: [{ delivery: 'delivered' }] },
    });
    expect(ended.log.filter(({ msg }) => MONITOR_ADDED.test(msg))).toHaveLength(1);
    expect(ended.seconds).toBeLessThan(SOON);
  });
});
