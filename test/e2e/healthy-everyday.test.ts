import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ofTestimony } from '../../src/core/witness/testimony.ts';
import { askWitnesses } from '../../src/node/witness/ask-witnesses.ts';
import { onFluentd, startBeside, test, VERSIONS } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { memoryBuffer, output, type Params, type Section } from '../support/fluentd-conf.ts';
import { witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const LINES = 20;
const HOST = '$' + '{hostname}';

const PARSERS: readonly [Params, (id: number) => string][] = [
  [{ '@type': 'none' }, (id) => `id=${id} info`],
  [{ '@type': 'json' }, (id) => `{"message":"id=${id}","level":"info"}`],
  [{ '@type': 'regexp', expression: '/^(?<message>\\S+) (?<level>\\S+)$/' }, (id) => `id=${id} info`],
  [{ '@type': 'ltsv' }, (id) => `message:id=${id}\tlevel:info`],
  [{ '@type': 'csv', keys: 'message,level' }, (id) => `id=${id},info`],
];

const filter = (type: string, params: Params, sections: Section[] = []): Section => ({
  name: 'filter',
  arg: 'app',
  params: { '@type': type, ...params },
  sections,
});
const FILTERS: readonly Section[][] = [
  [],
  [filter('grep', {}, [{ name: 'exclude', params: { key: 'message', pattern: '/healthz/' } }])],
  [filter('record_transformer', { enable_ruby: true }, [{ name: 'record', params: { host: HOST } }])],
  [
    filter('parser', { key_name: 'message', reserve_data: true, emit_invalid_record_to_error: false }, [
      { name: 'parse', params: { '@type': 'json' } },
    ]),
  ],
  [filter('stdout', {}), filter('record_transformer', {}, [{ name: 'record', params: { a: 'b' } }])],
];

const buffer = memoryBuffer({ flush_interval: '1s' });
const http = ({ sink }: Site) => output('http', { endpoint: `http://127.0.0.1:${sink.port}/` }, [buffer]);
const OUTPUTS: readonly ((site: Site, name: string) => Section)[] = [
  http,
  (site, name) =>
    output('file', { path: join(site.dir, 'out', name), append: true }, [
      memoryBuffer({ flush_mode: 'interval', flush_interval: '1s', timekey: '1d' }),
    ]),
  (site) =>
    output('copy', {}, [
      { ...http(site), name: 'store' },
      { name: 'store', params: { '@type': 'null' } },
    ]),
  () => output('stdout'),
];

onFluentd(VERSIONS, (version) => {
  test('none of a hundred everyday set-ups in one Fluentd is doubted', async ({ site }) => {
    const ways = PARSERS.flatMap(([parse, line], p) =>
      FILTERS.flatMap((filters, f) =>
        OUTPUTS.map((out, o) => {
          const name = `${p}-${f}-${o}`;
          const text = Array.from({ length: LINES }, (_, id) => `${line(id)}\n`).join('');
          writeFileSync(site.log(`${name}.log`), text);
          const path = site.log(`${name}.log`);
          const source = { '@type': 'tail', path, pos_file: `${site.pos}-${name}`, read_from_head: true };
          return [
            {
              name: 'source',
              params: { ...source, '@label': `@${name}`, tag: 'app' },
              sections: [{ name: 'parse', params: parse }],
            },
            { name: 'label', arg: `@${name}`, sections: [...filters, out(site, name)] },
          ];
        }),
      ),
    );
    expect(ways).toHaveLength(100);
    const fluentd = startBeside(site, { version, conf: ways.flat() });
    const progress = async () => ofTestimony(await askWitnesses(witnessIn(site.dir), 0));
    const isEmpty = async () => {
      const { left, doubts, files } = await progress();
      return files === 100 && left.length === 0 && doubts.length === 0;
    };
    await until('all is sent', isEmpty, { within: 90_000, every: 500 });
    await fluentd.stop();
    expect(await progress()).toMatchObject({ left: [], doubts: [], files: 100 });
  });
});
