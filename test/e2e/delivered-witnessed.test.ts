import { copyFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { DRAINED, onFluentd, runDelivery, SOON, test, VERSIONS_AND_OLDEST } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  fileBuffer,
  memoryBuffer,
  type Params,
  type Section,
  tail,
  toHttp,
} from '../support/fluentd-conf.ts';
import { NEWEST } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

/** Nothing flushes by itself. */
const LAZY = { flush_mode: 'interval', flush_interval: 300 };

const posFile = (site: Site, name: string) => `${site.pos}-${name}`;
const source = (site: Site, name: string, path: string, params: Params = {}) =>
  tail(site.log(path), posFile(site, name), { '@label': `@${name}`, ...params });
const logs = (site: Site, name: string) => source(site, name, `${name}*.log`, { refresh_interval: '1s' });
const alone = (site: Site, name: string, params?: Params) => source(site, name, `${name}.log`, params);
const inMemory = (site: Site, _ = '', params: Params = LAZY) => toHttp(site.sink.port, memoryBuffer(params));
const onDisk = (site: Site, name: string) =>
  toHttp(site.sink.port, fileBuffer(`${site.buffer}-${name}`, LAZY));
const fed = (site: Site, name: string, version: string): Section[] => [
  logs(site, name),
  {
    name: 'source',
    params: {
      '@type': version === '1.14.6' ? 'dummy' : 'sample',
      '@label': `@${name}`,
      tag: 'app',
      rate: 20,
    },
  },
];

interface SetUp {
  title: string;
  sources?: (site: Site, name: string, version: string) => Section | Section[];
  out?: (site: Site, name: string) => Section;
  /** What main does once NAME.log is read. */
  main?: (site: Site, name: string) => unknown;
}

const SET_UPS: readonly SetUp[] = [
  { title: 'a log in a memory buffer' },
  { title: 'a log in a file buffer', out: onDisk },
  { title: 'a burst', main: (site, name) => site.write(`${name}.log`, 50_000) },
  { title: 'a file of the last moment', main: (site, name) => site.write(`${name}-late.log`, 500) },
  { title: 'a file that was read and deleted', main: (site, name) => rmSync(site.log(`${name}.log`)) },
  {
    title: 'a log that is rotated by rename',
    sources: (site, name) => alone(site, name, { rotate_wait: '2s' }),
    main: async (site, name) => {
      renameSync(site.log(`${name}.log`), site.log(`${name}.log.1`));
      await site.write(`${name}.log`, 100);
    },
  },
  {
    title: 'a log that copytruncate rotates',
    sources: (site, name) => alone(site, name),
    main: async (site, name) => {
      copyFileSync(site.log(`${name}.log`), site.log(`${name}.log.1`));
      truncateSync(site.log(`${name}.log`));
      await site.isRead(`${name}.log`, { posFile: posFile(site, name) });
      await site.write(`${name}.log`, 100);
    },
  },
  {
    title: 'an output that another source feeds all the time',
    sources: fed,
    out: (site) => inMemory(site, '', { flush_mode: 'interval', flush_interval: 2 }),
  },
  {
    title: 'a destination that is away for a while',
    out: (site) =>
      inMemory(site, '', { flush_mode: 'interval', flush_interval: 1, retry_wait: 1, retry_max_interval: 2 }),
    main: async (site, name) => {
      site.sink.phase = 'refusing';
      await site.write(`${name}.log`, 100);
      const { requests } = site.sink;
      await until('it was refused', () => site.sink.requests > requests);
      site.sink.phase = 'up';
    },
  },
];

onFluentd(VERSIONS_AND_OLDEST, (version) => {
  describe('is drained, and proven:', () => {
    // On the newest each has its own Fluentd: none hides what another one lacks.
    const together = version === NEWEST ? SET_UPS.map((one) => [one]) : [SET_UPS];
    const named = together.map((setUps) => ({ setUps, title: setUps.map(({ title }) => title).join('; ') }));

    test.for(named)('$title', async ({ setUps }, { site }) => {
      const all = setUps.map((setUp, index) => ({ ...setUp, name: `log${String.fromCharCode(97 + index)}` }));
      const ended = await runDelivery(site, {
        version,
        conf: all.flatMap(({ name, sources = logs, out = inMemory }) => [
          ...[sources(site, name, version)].flat(),
          { name: 'label', arg: `@${name}`, sections: [out(site, name)] },
        ]),
        before: async () => {
          for (const { name } of all) await site.write(`${name}.log`, 20);
        },
        main: async () => {
          for (const { name, main } of all) {
            await site.isRead(`${name}.log`, { posFile: posFile(site, name) });
            await main?.(site, name);
          }
        },
      });
      expect(ended).toMatchObject(DRAINED);
      expect(ended.seconds).toBeLessThan(SOON);
    });
  });
});
