import { chmodSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import {
  type Delivery,
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
  test.for<[string, (site: Site) => string, Partial<Delivery>]>([
    ['a glob, after the done file', (site) => site.log('*.log'), {}],
    [
      'a fixed path, after a quiet window',
      (site) => `${site.log('app.log')},${site.log('secret.log')}`,
      { args: ['--quiet', '3s'], end: () => undefined },
    ],
  ])('nothing waits for an unreadable file of %s, and it is named', async ([, path, trigger], { site }) => {
    writeFileSync(site.log('secret.log'), 'nobody may read this\n', { mode: 0 });
    const ended = await runDelivery(site, {
      version,
      conf: confOf(site, path(site)),
      main: () => site.write('app.log', 1_000),
      wrapper: WITHOUT_RIGHTS,
      ...trigger,
    });
    expect(ended.lost).toBe(0);
    expect(ended.seconds).toBeLessThan(SOON);
    expectNamed(site, ended);
  });

  test('a file that posidle may read and Fluentd may not is named as well', async ({ site }) => {
    writeFileSync(site.log('secret.log'), 'nobody but root may read this\n');
    chmodSync(site.log('secret.log'), 0);
    const ended = await watchDelivery(site, {
      version,
      conf: confOf(site, site.log('*.log')),
      main: () => site.write('app.log', 1_000),
      fluentdWrapper: WITHOUT_RIGHTS,
      args: ['--pid-file', site.pidFile],
    });
    expect(ended.lost).toBe(0);
    expect(ended.seconds).toBeLessThan(SOON);
    expectNamed(site, ended);
  });
});

function expectNamed(site: Site, { code, outcome }: Awaited<ReturnType<typeof runDelivery>>): void {
  const path = site.log('secret.log');
  expect({ code, outcome }).toMatchObject({
    code: 3,
    outcome: { outcome: 'not-drained' },
  });
  expect(outcome.left.worst).toContainEqual(expect.objectContaining({ path, kind: 'unreadable' }));
}
