import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { progressFromWitnesses } from '../../src/core/witness/reports.ts';
import { askWitnesses } from '../../src/node/witness/ask-witnesses.ts';
import { ONE_VERSION, onFluentd, startBeside, test } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { filter, memoryBuffer, output, type Params, type Section } from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import { HttpSink, type SinkPhase } from '../support/http-sink.ts';
import { type FluentdRun, TESTED_VERSIONS, witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const LINES = 30;
/** Ruby for record_transformer. */
const HOST = '$' + '{hostname}';
const SOON = { flush_interval: '1s', retry_wait: '1s', retry_max_interval: '2s' };

type LineOf = (id: number) => string;

/** One way from a log to an output, beside others in the same Fluentd. */
interface Way {
  readonly name: string;
  readonly lineOf?: LineOf;
  readonly parse?: Params;
  readonly sections: readonly Section[];
}

const PARSERS: readonly [Params, LineOf][] = [
  [{ '@type': 'none' }, (id) => `id=${id} info`],
  [{ '@type': 'json' }, (id) => `{"message":"id=${id}","level":"info"}`],
  [{ '@type': 'regexp', expression: '/^(?<message>\\S+) (?<level>\\S+)$/' }, (id) => `id=${id} info`],
  [{ '@type': 'ltsv' }, (id) => `message:id=${id}\tlevel:info`],
  [{ '@type': 'csv', keys: 'message,level' }, (id) => `id=${id},info`],
];
const transformer = (record: Params) =>
  filter('record_transformer', { enable_ruby: true }, [{ name: 'record', params: record }]);
const FILTERS: readonly Section[][] = [
  [],
  [filter('grep', {}, [{ name: 'exclude', params: { key: 'message', pattern: '/healthz/' } }])],
  [transformer({ host: HOST })],
  [
    filter('parser', { key_name: 'message', reserve_data: true, emit_invalid_record_to_error: false }, [
      { name: 'parse', params: { '@type': 'json' } },
    ]),
  ],
  [filter('stdout'), transformer({ a: 'b' })],
];
const toHttp = ({ port }: HttpSink, more: Params = {}, buffer: Params = {}) =>
  output('http', { endpoint: `http://127.0.0.1:${port}/`, retryable_response_codes: '503', ...more }, [
    memoryBuffer({ ...SOON, ...buffer }),
  ]);
const OUTPUTS: readonly ((site: Site, name: string) => Section)[] = [
  ({ sink }) => toHttp(sink),
  (site, name) =>
    output('file', { path: join(site.dir, 'out', name), append: true }, [
      memoryBuffer({ flush_mode: 'interval', flush_interval: '1s', timekey: '1d' }),
    ]),
  ({ sink }) =>
    output('copy', {}, [
      { ...toHttp(sink), name: 'store' },
      { name: 'store', params: { '@type': 'null' } },
    ]),
  () => output('stdout'),
];

/** Each parser with each filter, and the outputs in turn: what one of them does, it does behind any other. */
const ways = (site: Site): readonly Way[] =>
  PARSERS.flatMap(([parse, lineOf], p) =>
    FILTERS.map((filters, f) => {
      const name = `${p}-${f}`;
      const at = (p + f) % OUTPUTS.length;
      const outputs = OUTPUTS.slice(at, at + 1).map((out) => out(site, name));
      return { name, lineOf, parse, sections: [...filters, ...outputs] };
    }),
  );

/** Whose destination is away for a while. */
const troubled = (site: Site, late: HttpSink, port: number): readonly Way[] => [
  { name: 'late', sections: [toHttp(late)] },
  // The buffer is full until the destination is back.
  { name: 'full', sections: [toHttp(late, {}, { chunk_limit_size: 300, total_limit_size: 500 })] },
  { name: 'slow', sections: [toHttp(site.sink, { slow_flush_log_threshold: 0 })] },
  {
    name: 'exec',
    sections: [
      output(
        'exec',
        { command: `sh -c 'test -e ${site.dir}/tried || { touch ${site.dir}/tried; exit 1; }' x` },
        [{ name: 'format', params: { '@type': 'json' } }, memoryBuffer(SOON)],
      ),
    ],
  },
  {
    name: 'forward',
    sections: [
      output('forward', { require_ack_response: true }, [
        { name: 'server', params: { host: '127.0.0.1', port } },
        memoryBuffer(SOON),
      ]),
    ],
  },
];

/** The destination of out_forward. */
const nextHop = (port: number): readonly Section[] => [
  { name: 'source', params: { '@type': 'forward', '@label': '@next', bind: '127.0.0.1', port } },
  { name: 'label', arg: '@next', sections: [output('null')] },
];

onFluentd(ONE_VERSION, (version) => {
  test('none of 25 everyday set-ups in one Fluentd is doubted', async ({ site }) => {
    const all = ways(site);
    expect(all).toHaveLength(25);
    await expectNoDoubt(site, start(site, version, all), all.length);
  });
});

// Each version has words of its own for a failure.
onFluentd(TESTED_VERSIONS, (version) => {
  test('destinations that fail for a while give no doubt', async ({ site }) => {
    const [late, port] = [await sinkIn(site, 'refusing'), await freePort()];
    const all = troubled(site, late, port);
    const fluentd = start(site, version, all, nextHop(port));
    await until('it is refused', () => late.requests > 0);
    write(site, all);
    await until('it is full', async () =>
      (await messagesOf(site)).some(({ text }) => /buffer overflow/.test(text)),
    );
    late.phase = 'up';
    const failures = ['failed to flush the buffer.', 'retry succeeded.', 'command exits with error code'];
    for (const text of failures) await until(text, () => fluentd.output().includes(text), { every: 200 });
    await expectNoDoubt(site, fluentd, all.length);
  });
});

async function expectNoDoubt(site: Site, fluentd: FluentdRun, files: number): Promise<void> {
  const isEmpty = async () => {
    const { left, doubts, files: seen } = await progress(site);
    return seen === files && left.length === 0 && doubts.length === 0;
  };
  await until('all is sent', isEmpty, { within: 90_000, every: 500 });
  await fluentd.stop();
  expect(await progress(site)).toMatchObject({ left: [], doubts: [], files });
}

function start(site: Site, version: string, all: readonly Way[], more: readonly Section[] = []) {
  write(site, all);
  // Fluentd puts chunks that it gives up into /tmp/fluent, which all tests share.
  const system = { name: 'system', params: { root_dir: `${site.dir}/root` } };
  const sections = all.flatMap(({ name, parse = { '@type': 'none' }, sections }): Section[] => {
    const files = { path: site.log(`${name}.log`), pos_file: `${site.pos}-${name}`, read_from_head: true };
    const params = { '@type': 'tail', '@label': `@${name}`, tag: 'app', ...files };
    return [
      { name: 'source', params, sections: [{ name: 'parse', params: parse }] },
      { name: 'label', arg: `@${name}`, sections },
    ];
  });
  // In one process it starts in half the time.
  const fluentdArgs = ['--no-supervisor'];
  return startBeside(site, { version, conf: [system, ...more, ...sections], fluentdArgs });
}

function write(site: Site, all: readonly Way[]): void {
  for (const { name, lineOf = (id: number) => `id=${id}` } of all)
    appendFileSync(
      site.log(`${name}.log`),
      Array.from({ length: LINES }, (_, id) => `${lineOf(id)}\n`).join(''),
    );
}

async function sinkIn(site: Site, phase: SinkPhase): Promise<HttpSink> {
  const sink = await HttpSink.start();
  sink.phase = phase;
  site.atEnd(() => sink.stop());
  return sink;
}

const ask = ({ dir }: Site) => askWitnesses(witnessIn(dir), 'look');
const progress = async (site: Site) => progressFromWitnesses(await ask(site));

/** The messages that the witness has told so far. */
async function messagesOf(site: Site) {
  const { witnesses } = await ask(site);
  return witnesses.flatMap((one) => (one.kind === 'alive' ? one.report.messages : []));
}
