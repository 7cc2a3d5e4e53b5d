import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import {
  type Delivery,
  onFluentd,
  SOON,
  startBeside,
  test,
  VERSIONS,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  fileBuffer,
  memoryBuffer,
  monitorAgent,
  type Section,
  tail,
  toHttp,
} from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import type { PosidleRun } from '../support/posidle.ts';
import { type FluentdRun, READY_LINE } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const DELIVERED = { lost: 0, code: 0, outcome: { drained: 'drained', gate: null } };
/** The kubelet waits for 10 s before it restarts a container: less will do for a test. */
const BACK_OFF = 4_000;
/** It sees its own processes only: another container than Fluentd's. */
const ELSEWHERE = ['unshare', '--fork', '--pid', '--mount-proc', '--kill-child'];

const source = (site: Site, params = {}) =>
  tail(site.log('*.log'), site.pos, { refresh_interval: '2s', ...params });
const toSink = ({ sink }: Site, buffer: Section) => toHttp(sink.port, buffer);
const rpc = async (): Promise<Section> => ({
  name: 'system',
  params: { rpc_endpoint: `127.0.0.1:${await freePort()}` },
});

onFluentd(VERSIONS, (version) => {
  /** A Fluentd and, in `main`, posidle beside it. */
  const deliver = async (
    site: Site,
    delivery: Omit<Delivery, 'version' | 'main'>,
    main: (fluentd: FluentdRun, posidle: PosidleRun) => Promise<unknown>,
  ) => {
    const fluentd = startBeside(site, { version, ...delivery });
    const watched = { version, ...delivery, main: (posidle: PosidleRun) => main(fluentd, posidle) };
    return await watchDelivery(site, watched, fluentd);
  };
  const placements = {
    'shared PIDs': async (site: Site) => ({ system: [], args: ['--process', site.conf] }),
    rpc: async () => ({ system: [await rpc()], args: [], wrapper: ELSEWHERE }),
  };
  type Placement = keyof typeof placements;

  test.for([
    ['shared PIDs', 'on-failure'],
    ['rpc', 'always'],
  ] as [Placement, string][])(
    'with %s and --restart-policy %s the next Fluentd delivers what the crashed one left',
    async ([placement, policy], { site }) => {
      const { system, args, ...how } = await placements[placement](site);
      const conf = [...system, source(site), toSink(site, fileBuffer(site.buffer))];
      const restarted = ['--restart-policy', policy];
      await site.write('app.log', 1_000);
      const delivery = { conf, args: [...args, ...restarted], ...how };
      const ended = await deliver(site, delivery, async (fluentd, posidle) => {
        await posidle.logged(/→ watching/);
        await site.isRead('app.log');
        fluentd.kill();
        await sleep(BACK_OFF);
        await startBeside(site, { version, conf }).ready;
        await site.write('app.log', 1_000);
      });
      expect(ended).toMatchObject(DELIVERED);
      expect(ended.seconds).toBeLessThan(SOON);
    },
  );

  test('a main that ends while Fluentd is away is drained by the next one', async ({ site }) => {
    const conf = [source(site), toSink(site, fileBuffer(site.buffer))];
    await site.write('app.log', 1_000);
    const args = ['--process', site.conf, '--restart-policy', 'on-failure'];
    const ended = await deliver(site, { conf, args }, async (fluentd, posidle) => {
      await posidle.logged(/→ watching/);
      await site.isRead('app.log');
      fluentd.kill();
      await fluentd.exited;
      await site.write('app.log', 1_000);
      writeFileSync(site.marker, '');
      await sleep(BACK_OFF);
      startBeside(site, { version, conf });
    });
    expect(ended).toMatchObject(DELIVERED);
    expect(ended.seconds).toBeLessThan(SOON);
  });

  test.for([
    ['never', []],
    ['on-failure', ['--drain-timeout', '6s']],
  ] as const)(
    'with --restart-policy %s a Fluentd that does not come back ends the wait, and what it left is told',
    async ([policy, bound], { site }) => {
      const conf = [source(site), toSink(site, fileBuffer(site.buffer))];
      await site.write('app.log', 1_000);
      const args = ['--process', site.conf, '--restart-policy', policy, ...bound];
      const ended = await deliver(site, { conf, args }, async (fluentd, posidle) => {
        await posidle.logged(/→ watching/);
        await site.isRead('app.log');
        fluentd.kill();
      });
      expect(ended).toMatchObject({ code: 3, lost: 1_000, outcome: { drained: 'not drained' } });
      expect(ended.seconds).toBeLessThan(SOON);
    },
  );

  test('a memory buffer that went with its Fluentd is told, though another one answers the RPC within a second', async ({
    site,
  }) => {
    const memory = memoryBuffer({ flush_interval: '60s' });
    const conf = [await rpc(), monitorAgent(await freePort()), source(site), toSink(site, memory)];
    await site.write('app.log', 1_000);
    const ended = await deliver(
      site,
      { conf, args: ['--restart-policy', 'on-failure'], wrapper: ELSEWHERE },
      async (fluentd, posidle) => {
        await posidle.logged(/→ watching/);
        await site.isRead('app.log');
        // posidle looks once a second.
        await sleep(1_500);
        fluentd.kill();
        await fluentd.exited;
        await startBeside(site, { version, conf }).ready;
        await site.write('app.log', 1_000);
      },
    );
    expect(ended).toMatchObject({ code: 3, lost: 1_000, outcome: { drained: 'not drained' } });
    expect(ended.seconds).toBeLessThan(SOON);
  });

  test('workers that SIGHUP replaced with lines in memory cannot be told from crashed ones, and that is said', async ({
    site,
  }) => {
    const memory = memoryBuffer({ flush_interval: '60s' });
    const conf = [monitorAgent(await freePort()), source(site), toSink(site, memory)];
    await site.write('app.log', 1_000);
    const args = ['--process', site.conf];
    const ended = await deliver(site, { conf, args }, async (fluentd, posidle) => {
      await posidle.logged(/→ watching/);
      await site.isRead('app.log');
      fluentd.process.kill('SIGHUP');
      await until('another worker runs', () => fluentd.output().split(READY_LINE).length > 2);
      await site.write('app.log', 1_000);
    });
    expect(ended.lost).toBe(0);
    expect(ended.outcome).toMatchObject({ drained: 'not drained', gate: { name: 'worker' } });
    expect(ended.seconds).toBeLessThan(SOON);
  });

  test.for<[string, (site: Site, pid: number) => string[]]>([
    ['--process', ({ conf }) => ['--process', conf]],
    ['--pid', (_, pid) => ['--pid', String(pid)]],
  ])(
    'with %s a supervisor that SIGUSR2 brings during the drain is drained and stopped too',
    async ([, find], { site }) => {
      const conf = [source(site), toSink(site, fileBuffer(site.buffer))];
      // The new supervisor is in the process group of the old one, which is killed at its end.
      const fluentdWrapper = ['setsid', '--fork', '--wait'];
      await site.write('app.log', 1_000);
      const fluentd = startBeside(site, { version, conf, fluentdWrapper });
      await fluentd.ready;
      const old = childOf(fluentd.pid);
      const main = async () => {
        await site.isRead('app.log');
        writeFileSync(site.marker, '');
        process.kill(old, 'SIGUSR2');
      };
      const ended = await watchDelivery(site, { version, conf, main, args: find(site, old) }, fluentd);
      expect(site.processes()).toEqual([]);
      expect(ended).toMatchObject(DELIVERED);
      expect(ended.seconds).toBeLessThan(SOON);
    },
  );
});

function childOf(pid: number): number {
  return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), 10);
}
