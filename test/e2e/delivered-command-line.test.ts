import { spawn } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import {
  type Delivery,
  DRAINED,
  ONE_VERSION,
  onFluentd,
  runDelivery,
  test,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, memoryBuffer, renderConf, type Section, tail, toHttp } from '../support/fluentd-conf.ts';
import { posidle } from '../support/posidle.ts';

const LATE_REFRESH = '6s';

const placements = {
  run: { deliver: runDelivery, buffer: () => memoryBuffer(), args: () => [] },
  watch: {
    deliver: watchDelivery,
    buffer: (path: string) => fileBuffer(path),
    args: ({ pidFile }: Site) => ['--pid-file', pidFile],
  },
};
type Placement = keyof typeof placements;

onFluentd(ONE_VERSION, (version) => {
  test.for(Object.keys(placements) as Placement[])(
    'posidle %s reads --workers: a late file of the second worker is delivered',
    async (placement, { site }) => {
      const { deliver, buffer, args } = placements[placement];
      const worker = (number: string, sections: Section[]) => ({ name: 'worker', arg: number, sections });
      const ended = await deliver(site, {
        version,
        conf: [
          worker('0', [appSource(site), toSink(site, buffer(`${site.buffer}-0`))]),
          worker('1', [lateSource(site), toSink(site, buffer(`${site.buffer}-1`))]),
        ],
        fluentdArgs: ['--workers', '2'],
        args: args(site),
        ...withLateFile(site),
      });
      expect(ended).toMatchObject(DRAINED);
    },
  );

  test.for(Object.keys(placements) as Placement[])(
    'posidle %s reads --inline-config: a late file of a source in it is delivered',
    async (placement, { site }) => {
      const { deliver, buffer, args } = placements[placement];
      const ended = await deliver(site, {
        version,
        conf: [appSource(site), toSink(site, buffer(site.buffer))],
        fluentdArgs: ['-i', renderConf([lateSource(site)])],
        args: args(site),
        ...withLateFile(site),
      });
      expect(ended).toMatchObject(DRAINED);
    },
  );
});

const appSource = (site: Site) => tail(site.log('app*.log'), site.pos, { refresh_interval: '2s' });
const latePos = ({ dir }: Site) => join(dir, 'late.pos');
const lateSource = (site: Site) =>
  tail(site.log('late*.log'), latePos(site), { refresh_interval: LATE_REFRESH });
const toSink = ({ sink }: Site, buffer: Section) => toHttp(sink.port, buffer);

/** The late file comes right after in_tail has looked for new ones. */
function withLateFile(site: Site): Pick<Delivery, 'before' | 'main'> {
  return {
    before: async () => {
      await site.write('app.log', 1_000);
      await site.write('late-1.log', 10);
    },
    main: async () => {
      await site.isRead('app.log');
      await site.isRead('late-1.log', { posFile: latePos(site) });
      await site.write('late-2.log', 2_000);
    },
  };
}

test('a --pid that is no Fluentd is refused, and is left alone', async ({ site }) => {
  await site.write('app.log', 10);
  writeFileSync(site.pos, entryOf(site.log('app.log')));
  writeFileSync(site.marker, '');
  const sleeping = spawn('sleep', ['60']);
  onTestFinished(() => void sleeping.kill('SIGKILL'));
  const pid = ['--pid', String(sleeping.pid), '--done-file', site.marker, '--stop-timeout', '3s'];
  const { code, stderr } = await posidle('watch', '-p', site.pos, ...pid);
  expect([code, sleeping.signalCode]).toEqual([2, null]);
  expect(stderr).toMatch(new RegExp(`${sleeping.pid}.*Name another process`));
});

function entryOf(path: string): string {
  const { size, ino } = statSync(path);
  const hex = (value: number) => value.toString(16).padStart(16, '0');
  return `${path}\t${hex(size)}\t${hex(ino)}\n`;
}
