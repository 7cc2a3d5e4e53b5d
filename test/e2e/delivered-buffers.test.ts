import { expect } from 'vitest';
import {
  DRAINED,
  ONE_VERSION,
  onFluentd,
  runDelivery,
  SOON,
  test,
  VERSIONS_AND_OLDEST,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, memoryBuffer, type Section, tail, toFile, toHttp } from '../support/fluentd-conf.ts';

const source = (site: Site, params = {}) =>
  tail(site.log('*.log'), site.pos, { refresh_interval: '2s', ...params });

onFluentd(VERSIONS_AND_OLDEST, (version) => {
  const small = { total_limit_size: '64k', overflow_action: 'block' };
  test.for<[string, (site: Site) => Section]>([
    [
      'file buffer with timekey 1h',
      ({ buffer }) => ({ ...fileBuffer(buffer, { timekey: '1h', ...small }), arg: 'time' }),
    ],
    ['memory buffer with flush_interval 300s', () => memoryBuffer({ flush_interval: '300s', ...small })],
  ])('a full %s, which blocks the input, is flushed again and again', async ([, buffer], { site }) => {
    const ended = await runDelivery(site, {
      version,
      conf: [source(site), toFile(site.out, buffer(site))],
      main: () => site.write('app.log', 3_000),
      args: ['--drain-timeout', '90s'],
    });
    expect(ended).toMatchObject(DRAINED);
    expect(ended.seconds).toBeLessThan(80);
  });
});

onFluentd(ONE_VERSION, (version) => {
  const ownEvents = (site: Site): Record<string, readonly Section[]> => {
    const toSink = (path: string, arg: string) => ({
      ...toHttp(site.sink.port, fileBuffer(path, { flush_interval: '60s' })),
      arg,
    });
    return {
      '<match **>': [toSink(site.buffer, '**')],
      '<label @FLUENT_LOG>': [
        toSink(site.buffer, 'app'),
        { name: 'label', arg: '@FLUENT_LOG', sections: [toSink(`${site.buffer}-own`, '**')] },
      ],
    };
  };
  test.for(['<match **>', '<label @FLUENT_LOG>'])(
    "Fluentd's own events in the file buffer of %s do not hold the drain up",
    async (name, { site }) => {
      const ended = await runDelivery(site, {
        version,
        conf: [source(site), ...(ownEvents(site)[name] ?? [])],
        main: () => site.write('app.log', 1_000),
      });
      expect(ended).toMatchObject(DRAINED);
      expect(ended.seconds).toBeLessThan(SOON);
    },
  );

  test('the lines that a throttled input has read at the end of the grace period are delivered', async ({
    site,
  }) => {
    const throttle = { read_bytes_limit_per_second: '100k' };
    const ended = await runDelivery(site, {
      version,
      conf: [source(site, throttle), toFile(site.out, fileBuffer(site.buffer))],
      main: () => site.write('app.log', 20_010),
      end: (posidle) => posidle.kill('SIGTERM'),
      args: ['--grace', '12s'],
    });
    expect(ended.delivered).toBeGreaterThan(1_500);
    // in_tail reads on until its shutdown, and a file buffer is not flushed there.
    expect(site.buffered()).toBeLessThan(4_000);
    expect(ended.seconds).toBeLessThan(30);
    expect(ended).toMatchObject({
      code: 3,
      outcome: {
        outcome: 'not-drained',
        left: { worst: expect.arrayContaining([expect.objectContaining({ path: site.log('app.log') })]) },
      },
    });
  });
});
