import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import {
  type Delivery,
  type Ended,
  onFluentd,
  runDelivery,
  SOON,
  test,
  VERSIONS,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, tail, toFile } from '../support/fluentd-conf.ts';

/** Root reads every file, but for these two capabilities. */
const WITHOUT_RIGHTS =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] : [];

const confOf = (site: Site, path: string) => [
  tail(path, site.pos, { refresh_interval: '2s' }),
  toFile(site.out, { ...fileBuffer(site.buffer, { timekey: '1h' }), arg: 'time' }),
];

onFluentd(VERSIONS, (version) => {
  test.for<[string, (site: Site, delivery: Delivery) => Promise<Ended>]>([
    [
      'an unreadable file of a glob, after the done file',
      (site, delivery) => runDelivery(site, { ...delivery, wrapper: WITHOUT_RIGHTS }),
    ],
    [
      'an unreadable file of a fixed path, after a quiet window',
      (site, delivery) =>
        runDelivery(site, {
          ...{ ...delivery, conf: confOf(site, `${site.log('app.log')},${site.log('secret.log')}`) },
          ...{ wrapper: WITHOUT_RIGHTS, args: ['--quiet', '3s'], end: () => undefined },
        }),
    ],
    [
      'a file that posidle may read and Fluentd may not',
      (site, delivery) =>
        watchDelivery(site, {
          ...delivery,
          fluentdWrapper: WITHOUT_RIGHTS,
        }),
    ],
  ])('nothing waits for %s, and it is named', async ([, deliver], { site }) => {
    const path = site.log('secret.log');
    writeFileSync(path, 'nobody may read this\n', { mode: 0 });
    const conf = confOf(site, site.log('*.log'));
    const ended = await deliver(site, { version, conf, main: () => site.write('app.log', 1_000) });
    expect(ended).toMatchObject({ lost: 0, code: 3, outcome: { outcome: 'not-drained' } });
    expect(ended.outcome.left.worst).toContainEqual(expect.objectContaining({ path, kind: 'unreadable' }));
    expect(ended.seconds).toBeLessThan(SOON);
  });
});
