import { join } from 'node:path';
import { expect } from 'vitest';
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

const LATE_REFRESH = '6s';

interface CommandLine {
  readonly conf: (site: Site, buffer: (name: string) => Section) => Section[];
  readonly fluentdArgs: (site: Site) => string[];
}

const worker = (number: string, sections: Section[]) => ({ name: 'worker', arg: number, sections });
const COMMAND_LINES: readonly [option: string, CommandLine][] = [
  [
    '--workers',
    {
      conf: (site, buffer) => [
        worker('0', [appSource(site), toSink(site, buffer('0'))]),
        worker('1', [lateSource(site), toSink(site, buffer('1'))]),
      ],
      fluentdArgs: () => ['--workers', '2'],
    },
  ],
  [
    '--inline-config',
    {
      conf: (site, buffer) => [appSource(site), toSink(site, buffer('0'))],
      fluentdArgs: (site) => ['-i', renderConf([lateSource(site)])],
    },
  ],
];

onFluentd(ONE_VERSION, (version) => {
  test.for(COMMAND_LINES)(
    'posidle run reads %s: a late file that only it tells of is delivered',
    async ([, { conf, fluentdArgs }], { site }) => {
      const sections = conf(site, () => memoryBuffer());
      const how = { version, conf: sections, fluentdArgs: fluentdArgs(site), ...withLateFile(site) };
      expect(await runDelivery(site, how)).toMatchObject(DRAINED);
    },
  );

  test.for(COMMAND_LINES)(
    'posidle watch reads %s: a late file that only it tells of is delivered',
    async ([, { conf, fluentdArgs }], { site }) => {
      const sections = conf(site, (name) => fileBuffer(`${site.buffer}-${name}`));
      const how = { version, conf: sections, fluentdArgs: fluentdArgs(site), ...withLateFile(site) };
      expect(await watchDelivery(site, how)).toMatchObject(DRAINED);
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
