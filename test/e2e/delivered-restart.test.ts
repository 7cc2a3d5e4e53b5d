import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { drainDelivery, said } from '../support/deliver.ts';
import {
  type Delivery,
  DRAINED,
  type Ended,
  ONE_VERSION,
  onFluentd,
  SOON,
  startBeside,
  test,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  fileBuffer,
  memoryBuffer,
  type Params,
  renderConf,
  type Section,
  tail,
  toHttp,
  toStdout,
} from '../support/fluentd-conf.ts';
import { childOf, numberOf, parentOf, workersOf } from '../support/own-processes.ts';
import { CONTAINER, type PosidleRun } from '../support/posidle.ts';
import type { FluentdRun } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

/** The kubelet waits for 10 s before it restarts a container: less will do for a test. */
const BACK_OFF = 4_000;
const LAZY = { flush_interval: '60s' };

const source = (site: Site, params = {}) =>
  tail(site.log('*.log'), site.pos, { refresh_interval: '2s', ...params });
const onDisk = (site: Site): Section[] => [source(site), toHttp(site.sink.port, fileBuffer(site.buffer))];
const inMemory = (site: Site): Section[] => [source(site), toHttp(site.sink.port, memoryBuffer(LAZY))];

const deliverOn =
  (version: string) =>
  /** A Fluentd that has read a thousand lines and, in `main`, posidle beside it. */
  async (
    site: Site,
    delivery: Omit<Delivery, 'version' | 'main'>,
    main: (fluentd: FluentdRun, posidle: PosidleRun) => Promise<unknown>,
  ) => {
    await site.write('app.log', 1_000);
    const fluentd = startBeside(site, { version, ...delivery });
    const whenRead = async (posidle: PosidleRun) => {
      await posidle.logged(/→ watching/);
      await site.isRead('app.log');
      await main(fluentd, posidle);
    };
    return await watchDelivery(site, { version, ...delivery, main: whenRead }, fluentd);
  };

/** A killed worker leaves no last report, so nobody saw what it held. */
function expectDied(ended: Ended, word = 'unproven'): void {
  expect(ended.outcome.outcome).toBe(word);
  expect(ended.outcome.doubts.worst).toContainEqual(expect.objectContaining({ kind: 'worker-died' }));
  expect(ended.seconds).toBeLessThan(SOON);
}

const worker = (index: number, sections: readonly Section[]): Section => ({
  name: 'worker',
  arg: String(index),
  sections,
});

onFluentd(ONE_VERSION, (version) => {
  const deliver = deliverOn(version);
  test('the next Fluentd delivers what a killed one left on disk', async ({ site }) => {
    const conf = onDisk(site);
    const ended = await deliver(site, { conf, wrapper: CONTAINER }, async (fluentd) => {
      fluentd.kill();
      await sleep(BACK_OFF);
      await startBeside(site, { version, conf }).ready;
      await site.write('app.log', 1_000);
    });
    expect(ended.lost).toBe(0);
    expectDied(ended);
  });

  test('a Fluentd that does not come back ends the wait, and what it left is reported', async ({ site }) => {
    const delivery = { conf: onDisk(site), wrapper: CONTAINER };
    const ended = await deliver(site, delivery, async (fluentd) => fluentd.kill());
    expect(ended.lost).toBe(1_000);
    expectDied(ended, 'not-drained');
    expect(ended.outcome.left.worst).toMatchObject([{ kind: 'held' }]);
  });

  test('a worker whose supervisor was killed is stopped through its witness', async ({ site }) => {
    // Its process group is not killed where the supervisor has ended.
    const delivery = { conf: inMemory(site), fluentdWrapper: ['setsid', '--fork', '--wait'] };
    const ended = await deliver(site, delivery, async (_, posidle) => {
      process.kill(parentOf(workersOf(site.conf)[0] ?? 0), 'SIGKILL');
      await posidle.logged(/its witness listens/);
      await site.write('app.log', 1_000);
    });
    expect(ended).toMatchObject(DRAINED);
    expect(ended.log).toContainEqual(
      expect.objectContaining({ msg: expect.stringMatching(/^told worker .* to stop/) }),
    );
    await until('the worker has ended', () => workersOf(site.conf).length === 0);
  });

  test('a chunk is doubted that a Fluentd took over from an earlier one, and that a reload leaves on disk', async ({
    site,
  }) => {
    const rpc: Section = { name: 'system', params: { rpc_endpoint: `127.0.0.1:${site.rpcPort}` } };
    const lazy = fileBuffer(site.buffer, { ...LAZY, flush_at_shutdown: false });
    const conf = [rpc, source(site), toHttp(site.sink.port, lazy)];
    await site.write('app.log', 20);
    const earlier = startBeside(site, { version, conf });
    await earlier.ready;
    await said(site, 'a chunk', ({ outputs }) => outputs.some(({ chunks }) => chunks === 1));
    await earlier.stop();
    const ended = await drainDelivery(site, { version, conf }, async () => {
      writeFileSync(site.conf, renderConf([rpc, source(site), toStdout()]));
      await fetch(`http://127.0.0.1:${site.rpcPort}/api/config.gracefulReload`);
      await said(site, 'a reload', ({ ends, isReady }) => isReady && ends.length > 0);
    });
    expect(ended).toMatchObject({ lost: 20, code: 3, outcome: { outcome: 'unproven' } });
    expect(ended.outcome.doubts.worst).toContainEqual(expect.objectContaining({ kind: 'reloaded' }));
  });

  test.for([
    ['has ended', true],
    ['without pos_file has ended, and the other one follows the same log', false],
  ] as const)('the drain waits for the next worker if one %s', async ([_, isKept], { site }) => {
    const posFile = (index: number) => (isKept ? `${site.pos}.${index}` : undefined);
    const reader = (index: number) => tail(site.log('*.log'), posFile(index), { refresh_interval: '2s' });
    const conf: Section[] = [
      { name: 'system', params: { workers: 2, restart_worker_interval: '5s' } },
      worker(0, [reader(0), toStdout()]),
      worker(1, [reader(1), toHttp(site.sink.port, memoryBuffer({ flush_interval: '1s' }))]),
    ];
    await site.write('app.log', 50);
    const fluentd = startBeside(site, { version, conf });
    await fluentd.ready;
    const sender = () => workersOf(site.conf).find((pid) => numberOf(pid) === '1');
    const main = async () => {
      await until('all has arrived', () => site.sink.tally.unique === 50);
      process.kill(sender() ?? 0, 'SIGTERM');
      await until('worker 1 has ended', () => sender() === undefined);
      await site.write('app.log', 10);
    };
    const ended = await watchDelivery(site, { version, conf, main }, fluentd);
    expect(ended).toMatchObject(DRAINED);
  });

  test('lines after the end of the worker that reads are doubted, though another worker still sends', async ({
    site,
  }) => {
    const http = (port: number, buffer: Params) => toHttp(port, memoryBuffer(buffer));
    const sample: Section = { name: 'source', params: { '@type': 'sample', tag: 'app' } };
    site.sink.delay = 8_000;
    const conf: Section[] = [
      { name: 'system', params: { workers: 2 } },
      worker(0, [source(site), toStdout()]),
      worker(1, [sample, http(site.sink.port, LAZY)]),
    ];
    const ended = await deliver(site, { conf }, async (fluentd) => {
      process.kill(fluentd.pid, 'SIGTERM');
      await until('worker 0 has ended', () => workersOf(site.conf).length === 1);
      await site.write('app.log', 10);
    });
    expect(ended.outcome.outcome).not.toBe('drained');
    expect(ended.outcome.doubts.worst).toContainEqual(expect.objectContaining({ kind: 'ended-early' }));
  });

  test('a supervisor that SIGUSR2 brings during the drain is drained and stopped too', async ({ site }) => {
    // The new supervisor is in the process group of the old one, which is killed at its end.
    const delivery = { conf: onDisk(site), fluentdWrapper: ['setsid', '--fork', '--wait'] };
    const ended = await deliver(site, delivery, async (fluentd) => {
      writeFileSync(site.marker, '');
      process.kill(childOf(fluentd.pid), 'SIGUSR2');
    });
    expect(site.processes()).toEqual([]);
    expect(ended).toMatchObject(DRAINED);
    expect(ended.seconds).toBeLessThan(SOON);
  });
});
