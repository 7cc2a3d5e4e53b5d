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
  type Section,
  tail,
  toFile,
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
