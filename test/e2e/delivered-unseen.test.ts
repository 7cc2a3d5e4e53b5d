import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import {
  type Delivery,
  ONE_VERSION,
  onFluentd,
  runDelivery,
  startBeside,
  test,
  VERSIONS,
  VERSIONS_AND_OLDEST,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  memoryBuffer,
  monitorAgent,
  output,
  type Section,
  tail,
  toForward,
  toHttp,
} from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import type { PosidleRun } from '../support/posidle.ts';

const CLOSED_PORT = 9;
/** What is told where no witness is loaded. */
const FROM_OUTSIDE = ['--witness', 'off'];
const MONITOR_ADDED = /monitor_agent.*\d{4,5}/;

const source = (site: Site) => tail(site.log('*.log'), site.pos, { refresh_interval: '2s' });
const toNobody = () => toForward(CLOSED_PORT, memoryBuffer());
const toSink = ({ sink }: Site) => toHttp(sink.port, memoryBuffer());

const runOn =
  (version: string) =>
  (site: Site, out: Section, rest: Partial<Delivery> = {}) =>
    runDelivery(site, {
      version,
      conf: [source(site), out],
      main: () => site.write('app.log', 2_000),
      ...rest,
      args: [...(rest.args ?? []), ...FROM_OUTSIDE],
    });

onFluentd(VERSIONS_AND_OLDEST, (version) => {
  const run = runOn(version);

  test('what a memory buffer loses at shutdown is not taken as drained', async ({ site }) => {
    const ended = await run(site, toNobody(), { args: ['--drain-timeout', '5s'] });
    expect(ended).toMatchObject({ code: 3, lost: 2_000, outcome: { drained: 'not drained' } });
    expect(ended.outcome.outputs).not.toMatchObject([{ delivery: 'delivered' }]);
  });

  test('with --no-monitor a memory buffer that loses everything is unproven, with a warning', async ({
    site,
  }) => {
    const ended = await run(site, toNobody(), { args: ['--no-monitor'] });
    expect(ended).toMatchObject({ code: 3, lost: 2_000, outcome: { drained: 'unproven' } });
    const warnings = ended.log.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
    expect(warnings).toContainEqual(expect.stringContaining('unproven'));
  });
});

onFluentd(ONE_VERSION, (version) => {
  const run = runOn(version);

  test('with --no-monitor a memory buffer is unproven, which --strict does not accept', async ({ site }) => {
    const ended = await run(site, toSink(site), { args: ['--no-monitor'] });
    expect(ended).toMatchObject({
      lost: 0,
      code: 3,
      outcome: { drained: 'unproven', outputs: [{ delivery: 'unseen' }] },
    });
    expect(ended.log.some(({ msg }) => MONITOR_ADDED.test(msg))).toBe(false);
  });

  test('lines that the command of exec_filter holds when Fluentd stops are unproven, with a warning', async ({
    site,
  }) => {
    // awk writes to a pipe in blocks of 4 KiB, and the rest when its input ends.
    const filter = output('exec_filter', { command: "awk '{print}'", tag: 'filtered' }, [
      { name: 'format', params: { '@type': 'json' } },
      { name: 'parse', params: { '@type': 'json' } },
      memoryBuffer({ flush_interval: '1s' }),
    ]);
    const late = { ...toHttp(site.sink.port, memoryBuffer({ flush_at_shutdown: false })), arg: 'filtered' };
    const main = () => site.write('app.log', 20);
    const ended = await runDelivery(site, {
      version,
      conf: [source(site), filter, late],
      main,
      args: FROM_OUTSIDE,
    });
    expect(ended).toMatchObject({ code: 3, lost: 20, outcome: { drained: 'unproven' } });
    expect(ended.outcome.outputs).toContainEqual(
      expect.objectContaining({ output: 'exec_filter of <match app>', delivery: 'unseen' }),
    );
    expect(ended.log.filter(({ msg }) => /the command of out_exec_filter/.test(msg))).toHaveLength(1);
  });

  test('a shell that hands its words through hands monitor_agent through too', async ({ site }) => {
    const command = (fluentd: readonly string[]) => ['sh', '-c', 'exec "$0" "$@"', ...fluentd];
    const ended = await run(site, toSink(site), { command });
    expect(ended).toMatchObject({ lost: 0, code: 0, outcome: { drained: 'drained' } });
  });

  test('a shell line that takes no further words is left as it is, and its buffer is unproven', async ({
    site,
  }) => {
    const command = (fluentd: readonly string[]) => ['sh', '-c', `exec ${fluentd.join(' ')}`];
    const ended = await run(site, toNobody(), { command, args: ['-c', site.conf] });
    expect(ended).toMatchObject({ code: 3, lost: 2_000, outcome: { drained: 'unproven' } });
  });
});

onFluentd(VERSIONS, (version) => {
  const delivery = (site: Site): Delivery => ({
    version,
    conf: [
      { name: 'system', params: { with_source_only: true, root_dir: `${site.dir}/root` } },
      source(site),
      toSink(site),
    ],
    main: async () => {
      await site.write('app.log', 2_000);
      await site.isRead('app.log');
    },
  });

  test('lines that with_source_only keeps back are left, and the remedy was told at the start', async ({
    site,
  }) => {
    const ended = await runDelivery(site, {
      ...delivery(site),
      args: ['--drain-timeout', '5s', ...FROM_OUTSIDE],
    });
    expect(ended).toMatchObject({ lost: 2_000, code: 3, outcome: { drained: 'not drained' } });
    expect(ended.outcome.outputs).toContainEqual(
      expect.objectContaining({ output: 'with_source_only', delivery: 'left' }),
    );
    expect(ended.log.filter(({ msg }) => /SIGWINCH/.test(msg))).toHaveLength(1);
  });

  test('the drain waits until SIGWINCH lets the lines go that with_source_only keeps back', async ({
    site,
  }) => {
    const { conf, ...rest } = delivery(site);
    const how = { ...rest, conf: [...conf, monitorAgent(await freePort())] };
    const fluentd = startBeside(site, how);
    const end = ({ logged }: PosidleRun) => {
      writeFileSync(site.marker, '');
      void logged(/→ draining/).then(() => fluentd.process.kill('SIGWINCH'));
    };
    const ended = await watchDelivery(site, { ...how, end }, fluentd);
    expect(ended).toMatchObject({ lost: 0, code: 0, outcome: { drained: 'drained' } });
  });
});
