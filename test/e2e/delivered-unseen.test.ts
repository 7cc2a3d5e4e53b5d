import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  type Delivery,
  DRAINED,
  ONE_VERSION,
  onFluentd,
  runDelivery,
  startBeside,
  test,
  VERSIONS,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  fileBuffer,
  memoryBuffer,
  output,
  type Section,
  tail,
  toForward,
  toHttp,
} from '../support/fluentd-conf.ts';
import type { PosidleRun } from '../support/posidle.ts';

const CLOSED_PORT = 9;
const BLIND = ['--witness', 'off'];

const source = (site: Site) => tail(site.log('*.log'), site.pos, { refresh_interval: '2s' });
const toSink = ({ sink }: Site) => toHttp(sink.port, memoryBuffer());
const UNPROVEN = { outcome: 'unproven', doubts: { worst: [{ kind: 'no-witness' }] } };

onFluentd(ONE_VERSION, (version) => {
  const run = (site: Site, out: Section, rest: Partial<Delivery> = {}) =>
    runDelivery(site, {
      version,
      conf: [source(site), out],
      main: () => site.write('app.log', 2_000),
      ...rest,
    });

  test.for<[string, (site: Site) => Section]>([
    ['a memory buffer', toSink],
    ['a file buffer', (site) => toHttp(site.sink.port, fileBuffer(site.buffer, { flush_interval: '60s' }))],
  ])(
    'without a witness %s that was delivered is unproven, and the remedy is reported',
    async ([, out], { site }) => {
      const ended = await run(site, out(site), { args: BLIND });
      expect(ended).toMatchObject({ lost: 0, code: 3, outcome: UNPROVEN });
      const warnings = ended.log.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
      expect(warnings).toContainEqual(expect.stringContaining('posidle witness'));
    },
  );

  test('a downstream that stays dead is given up at the bound, and the bytes named are those on disk', async ({
    site,
  }) => {
    const out = toForward(CLOSED_PORT, fileBuffer(site.buffer, { flush_interval: '60s' }));
    const ended = await run(site, out, { args: ['--drain-timeout', '6s'] });
    expect(ended).toMatchObject({ code: 3, lost: 2_000 });
    expect(ended.seconds).toBeGreaterThan(6);
    const chunks = readdirSync(site.buffer).filter((name) => !name.endsWith('.meta'));
    const bytes = chunks.reduce((sum, name) => sum + statSync(join(site.buffer, name)).size, 0);
    expect(ended.outcome.left.worst).toMatchObject([{ kind: 'held', chunks: chunks.length, bytes }]);
  });

  test('lines that the command of exec_filter may hold are unproven', async ({ site }) => {
    // awk writes to a pipe in blocks of 4 KiB, and the rest when its input ends.
    const filter = output('exec_filter', { command: "awk '{print}'", tag: 'filtered' }, [
      { name: 'format', params: { '@type': 'json' } },
      { name: 'parse', params: { '@type': 'json' } },
      memoryBuffer({ flush_interval: '1s' }),
    ]);
    const late = { ...toHttp(site.sink.port, memoryBuffer({ flush_at_shutdown: false })), arg: 'filtered' };
    const conf = [source(site), filter, late];
    const ended = await runDelivery(site, { version, conf, main: () => site.write('app.log', 20) });
    expect(ended).toMatchObject({ code: 3, lost: 20 });
    expect(ended.outcome.outcome).not.toBe('drained');
  });

  test.for<[string, NonNullable<Delivery['command']>]>([
    ['hands its words through', (words) => ['sh', '-c', 'exec "$0" "$@"', ...words]],
    ['takes no further words', (words) => ['sh', '-c', `exec ${words.join(' ')}`]],
  ])('a shell line that %s loads the witness as well', async ([, command], { site }) => {
    const ended = await run(site, toSink(site), { command, args: ['-c', site.conf] });
    expect(ended).toMatchObject(DRAINED);
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

  test('lines that with_source_only keeps back are left', async ({ site }) => {
    const ended = await runDelivery(site, { ...delivery(site), args: ['--drain-timeout', '5s'] });
    expect(ended).toMatchObject({ lost: 2_000, code: 3, outcome: { outcome: 'not-drained' } });
  });

  test('the drain waits until SIGWINCH lets the lines go that with_source_only keeps back', async ({
    site,
  }) => {
    const how = delivery(site);
    const fluentd = startBeside(site, how);
    const end = ({ logged }: PosidleRun) => {
      writeFileSync(site.marker, '');
      void logged(/→ draining/).then(() => fluentd.process.kill('SIGWINCH'));
    };
    const ended = await watchDelivery(site, { ...how, end }, fluentd);
    expect(ended).toMatchObject({ lost: 0, outcome: { left: { count: 0 } } });
  });
});
