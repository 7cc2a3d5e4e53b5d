import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { rubyOption } from '../../src/core/witness/load.ts';
import { writeWitness } from '../../src/node/witness/write-witness.ts';
import {
  DRAINED,
  ONE_VERSION,
  onFluentd,
  runDelivery,
  test,
  VERSIONS,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import {
  fileBuffer,
  filter,
  memoryBuffer,
  output,
  renderConf,
  type Section,
  tail,
  toHttp,
} from '../support/fluentd-conf.ts';
import { startPosidle } from '../support/posidle.ts';
import { startFluentd } from '../support/real-fluentd.ts';

/** Nothing flushes by itself. */
const LAZY = { flush_mode: 'interval', flush_interval: 300 };
const PLUGINS = resolve('test/witness/lib');
const input = (site: Site, params = {}) =>
  tail(site.log('*.log'), site.pos, { refresh_interval: '1s', ...params });
const onDisk = (site: Site, params = {}) =>
  toHttp(site.sink.port, fileBuffer(site.buffer, { ...LAZY, ...params }));

interface Situation {
  readonly conf: (site: Site) => readonly Section[];
  readonly main?: (site: Site) => Promise<void>;
  /** From main's end to posidle's: what is waited for, and no more. */
  readonly seconds: readonly [least: number, most: number];
}

/** What only a witness knows: posidle reads no pos file and no fluent.conf here. */
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'a full buffer blocks in_tail: it is flushed at once, and again': {
    conf: (site) => [
      input(site),
      onDisk(site, { total_limit_size: '200k', chunk_limit_size: '50k', overflow_action: 'block' }),
    ],
    main: (site) => site.write('app.log', 20_000),
    seconds: [0, 40],
  },
  'a multiline source keeps its last record for multiline_flush_interval': {
    conf: (site) => [
      {
        ...input(site, { multiline_flush_interval: '4s' }),
        sections: [
          {
            name: 'parse',
            params: { '@type': 'multiline', format_firstline: '/^id=/', format1: '/^(?<message>.*)/' },
          },
        ],
      },
      onDisk(site),
    ],
    seconds: [2, 25],
  },
  'a filter keeps records for its flush_interval': {
    conf: (site) => [
      input(site),
      filter('concat', { flush_interval: '5s', timeout_label: '@late' }),
      output('relabel', { '@label': '@late' }),
      { name: 'label', arg: '@late', sections: [onDisk(site)] },
    ],
    seconds: [3, 30],
  },
  'records of a filter are on their way to a buffer': {
    conf: (site) => [
      input(site),
      filter('concat', { flush_interval: '1s', timeout_label: '@late' }),
      output('relabel', { '@label': '@late' }),
      { name: 'label', arg: '@late', sections: [filter('throttle'), onDisk(site)] },
    ],
    seconds: [3, 30],
  },
  'a flush emits its records again, which are on their way to another buffer': {
    conf: (site) => [
      input(site),
      output('repeat', {}, [memoryBuffer(LAZY)]),
      { ...filter('throttle'), arg: 'again' },
      { ...onDisk(site), arg: 'again' },
    ],
    seconds: [3, 30],
  },
};

/** `posidle drain` beside a Fluentd whose configuration and files it does not know. */
async function drained(site: Site, version: string, { conf, main }: Situation) {
  const dir = join(site.dir, 'posidle');
  mkdirSync(dir);
  await writeWitness(dir);
  const env = { RUBYOPT: rubyOption(dir), POSIDLE_DIR: dir };
  const args = ['-I', PLUGINS];
  const fluentd = startFluentd({
    version,
    dir: site.dir,
    conf: renderConf(conf(site)),
    witness: false,
    env,
    args,
  });
  await fluentd.ready;
  await (main ?? ((where: Site) => where.write('app.log', 10)))(site);
  const words = ['drain', '--main-ended', '--witness', dir, '--grace', '60s', '--log-format', 'json'];
  const start = performance.now();
  const posidle = startPosidle([...words, '--termination-log', site.termination], { cwd: '/' });
  const code = await posidle.exited;
  site.told = posidle.stderr();
  const outcome = posidle.log().at(-1)?.['outcome'];
  return {
    code,
    outcome,
    lost: site.lines.written - site.delivered(),
    seconds: (performance.now() - start) / 1_000,
  };
}

onFluentd(VERSIONS, (version) => {
  test.for(Object.entries(SITUATIONS))('%s', async ([, situation], { site }) => {
    const { seconds, ...ended } = await drained(site, version, situation);
    expect(ended).toMatchObject(DRAINED);
    const [least, most] = situation.seconds;
    expect(seconds).toBeGreaterThan(least);
    expect(seconds).toBeLessThan(most);
  });
});

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
