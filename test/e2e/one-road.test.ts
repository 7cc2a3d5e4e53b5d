import { describe, expect } from 'vitest';
import { DRAINED, ONE_VERSION, onFluentd, runDelivery, test, watchDelivery } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { memoryBuffer, type Section, tail, toHttp } from '../support/fluentd-conf.ts';

/** Nothing flushes by itself. */
const LAZY = { flush_mode: 'interval', flush_interval: 300 };
const input = (site: Site, params = {}) =>
  tail(site.log('*.log'), site.pos, { refresh_interval: '1s', ...params });

/** What posidle cannot evaluate: it runs no Ruby. */
const RUBY = (site: Site) => `"#{[${JSON.stringify(site.pos)}].first}"`;

onFluentd(ONE_VERSION, (version) => {
  describe('with a witness, a configuration that posidle cannot read stops nobody', () => {
    const unknown = (site: Site): readonly Section[] => [
      tail(site.log('*.log'), RUBY(site), { refresh_interval: '1s' }),
      toHttp(site.sink.port, memoryBuffer(LAZY)),
    ];
    const without = (site: Site): readonly Section[] => {
      const { params: { pos_file: _, ...params } = {}, ...rest } = input(site);
      return [{ ...rest, params }, toHttp(site.sink.port, memoryBuffer(LAZY))];
    };
    const main = (site: Site) => async () => site.write('app.log', 100);

    test.for([
      ['a pos_file that only Ruby knows', unknown],
      ['no pos_file at all', without],
    ] as const)('run and watch drain with %s', async ([, conf], { site }) => {
      const delivery = { version, conf: conf(site), main: main(site) };
      expect(await runDelivery(site, delivery)).toMatchObject(DRAINED);
      expect(await watchDelivery(site, delivery)).toMatchObject(DRAINED);
    });

    test('silence begins the drain, as the witness sees it', async ({ site }) => {
      const delivery = {
        version,
        conf: without(site),
        main: main(site),
        args: ['--quiet', '4s'],
        end: () => undefined,
      };
      expect(await runDelivery(site, delivery)).toMatchObject({ ...DRAINED, outcome: { trigger: 'quiet' } });
    });
  });
});
