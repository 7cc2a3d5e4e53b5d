import { renameSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import type { FileReport } from '../../src/core/witness/answer.ts';
import {
  DRAINED,
  type Ended,
  ONE_VERSION,
  onFluentd,
  runDelivery,
  SOON,
  said,
  startBeside,
  test,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, memoryBuffer, tail, toFile, toHttp } from '../support/fluentd-conf.ts';

const confOf = (site: Site, path: string, refresh: string) => [
  tail(path, site.pos, { refresh_interval: refresh }),
  toFile(site.out, fileBuffer(site.buffer)),
];

onFluentd(ONE_VERSION, (version) => {
  const glob = (site: Site) => site.log('*.log');
  const fixed = (site: Site) => `${site.log('app.log')},${site.log('late.log')}`;
  test.for<[string, (site: Site) => string, (site: Site) => unknown]>([
    ['a file of a glob that is deleted', glob, (site) => rmSync(site.log('late.log'))],
    ['a file of a glob that is renamed', glob, (site) => rotate(site)],
    ['a fixed path that is deleted', fixed, (site) => rmSync(site.log('late.log'))],
    [
      'a fixed path that is rotated',
      fixed,
      async (site) => {
        rotate(site);
        await site.write('late.log', 10);
      },
    ],
  ])('%s before in_tail has found it is delivered or told', async ([, path, goAway], { site }) => {
    const ended = await watchDelivery(site, {
      version,
      conf: confOf(site, path(site), '10s'),
      before: () => site.write('app.log', 10),
      main: async (posidle) => {
        await posidle.logged(/→ watching/);
        await site.isRead('app.log');
        await site.write('late.log', 1_000);
        await said(site, 'it is seen', ({ unfound, files }) => unfound.length > 0 || files.length > 1);
        await goAway(site);
      },
    });
    expectDeliveredOrTold(ended, site.log('late.log'));
  });

  test('posidle run takes a relative path as Fluentd does', async ({ site }) => {
    const ended = await runDelivery(site, {
      version,
      conf: confOf(site, 'logs/*.log', '4s'),
      before: () => site.write('app.log', 10),
      main: async () => {
        await site.isRead('app.log', { named: 'logs/app.log' });
        await site.write('late.log', 1_000);
      },
    });
    expect(ended).toMatchObject(DRAINED);
    expect(ended.seconds).toBeLessThan(SOON);
  });

  // in_tail closes it after rotate_wait. It drops the entry only at a refresh.
  test.for<[string, string]>([
    ['that was read and deleted before posidle started', '60s'],
    ['that was read, deleted and closed before posidle started', '1s'],
  ])('a file %s is not taken as unread', async ([, rotateWait], { site }) => {
    const params = { refresh_interval: '600s', rotate_wait: rotateWait };
    const conf = [tail(site.log('*.log'), site.pos, params), toFile(site.out, fileBuffer(site.buffer))];
    await site.write('app.log', 10);
    await site.write('gone.log', 10);
    const fluentd = startBeside(site, { version, conf });
    await site.isRead('gone.log');
    rmSync(site.log('gone.log'));
    const isClosed = rotateWait === '1s';
    await said(site, 'it is closed or not', ({ closed }) => closed.length > 0 === isClosed);
    const ended = await watchDelivery(site, { version, conf }, fluentd);
    expect(ended).toMatchObject(DRAINED);
    expect(ended.seconds).toBeLessThan(SOON);
  });
});

onFluentd(ONE_VERSION, (version) => {
  test('a file that is renamed while a full buffer holds in_tail up is reported', async ({ site }) => {
    site.sink.phase = 'refusing';
    const full = { flush_interval: '1s', retry_wait: '1s', retry_max_interval: '1s', total_limit_size: '8k' };
    const ended = await watchDelivery(site, {
      version,
      conf: [
        tail(site.log('app.log'), site.pos, { rotate_wait: '1s' }),
        toHttp(site.sink.port, memoryBuffer({ ...full, overflow_action: 'throw_exception' })),
      ],
      // in_tail hands over a thousand lines at once.
      before: () => site.write('app.log', 5_000),
      main: async () => {
        await said(site, 'it is refused', ({ files }) => files.some(isUnread));
        renameSync(site.log('app.log'), site.log('app.log.1'));
        await site.write('app.log', 10);
        await said(site, 'it is closed', ({ closed }) => closed.some(isUnread));
        site.sink.phase = 'up';
      },
    });
    expect(ended.lost).toBeGreaterThan(0);
    expectDeliveredOrTold(ended, site.log('app.log'));
  });
});

function isUnread({ position, size, lines }: FileReport): boolean {
  return lines > 0 || position < (size ?? 0);
}

function rotate(site: Site): void {
  renameSync(site.log('late.log'), site.log('late.log.1'));
}

function expectDeliveredOrTold({ code, lost, outcome }: Ended, path: string): void {
  if (lost === 0) {
    expect({ code, outcome }).toMatchObject({ code: 0, outcome: { outcome: 'drained' } });
    return;
  }
  expect({ code, drained: outcome.outcome }).not.toEqual({ code: 0, outcome: 'drained' });
  expect(JSON.stringify([outcome.left.worst, outcome.doubts.worst])).toContain(path);
}
