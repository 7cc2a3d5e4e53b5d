import { expect } from 'vitest';
import { onFluentd, runDelivery, SOON, test, VERSIONS } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, tail, toFile } from '../support/fluentd-conf.ts';
import { needsRoot } from '../support/needs.ts';

const confOf = (site: Site, params = {}) => [
  tail(site.log('*.log'), site.pos, { refresh_interval: '2s' }),
  toFile(site.out, fileBuffer(site.buffer, params)),
];
const toldOf = (why: string) => ({
  code: 3,
  outcome: { outcome: 'unproven', doubts: { worst: [{ kind: 'unbalanced', why }] } },
});

onFluentd(VERSIONS, (version) => {
  test('lines that found no room on the disk of the buffer are reported', async ({ site, skip }) => {
    needsRoot({ skip });
    site.limitBuffer('200k');
    const ended = await runDelivery(site, {
      version,
      conf: confOf(site),
      main: async () => {
        await site.write('app.log', 20_000);
        await site.isRead('app.log');
      },
    });
    expect(ended.lost).toBeGreaterThan(0);
    expect(ended).toMatchObject(toldOf(`${ended.lost} records not taken, or missing`));
    expect(ended.seconds).toBeLessThan(SOON);
  });
});
