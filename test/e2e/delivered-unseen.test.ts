import { expect } from 'vitest';
import { DRAINED, ONE_VERSION, onFluentd, runDelivery, test } from '../support/delivery.ts';
import { fileBuffer, memoryBuffer, tail, toFile, toHttp } from '../support/fluentd-conf.ts';

onFluentd(ONE_VERSION, (version) => {
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
    const ended = await runDelivery(site, {
      version,
      conf: [tail(site.log('*.log'), site.pos), toHttp(site.sink.port, memoryBuffer())],
      main: () => site.write('app.log', 2_000),
      command: (words) => ['sh', '-c', `exec ${words.join(' ')}`],
      args: ['-c', site.conf],
    });
    expect(ended).toMatchObject(DRAINED);
  });
});
