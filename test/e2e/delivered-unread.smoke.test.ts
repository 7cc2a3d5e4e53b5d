import { expect } from 'vitest';
import { onFluentd, runDelivery, test, VERSIONS } from '../support/delivery.ts';
import { fileBuffer, tail, toFile } from '../support/fluentd-conf.ts';

onFluentd(VERSIONS, (version) => {
  test('a log with a newline in its name is never taken as read', async ({ site }) => {
    const ended = await runDelivery(site, {
      version,
      conf: [
        tail(site.log('*.log'), site.pos, { refresh_interval: '2s' }),
        toFile(site.out, fileBuffer(site.buffer)),
      ],
      before: () => site.write('app.log', 10),
      main: () => site.write('new\nline.log', 1_000),
      args: ['--drain-timeout', '10s'],
    });
    expect(ended).toMatchObject({ lost: 0, code: 0, outcome: { outcome: 'drained' } });
  });
});
