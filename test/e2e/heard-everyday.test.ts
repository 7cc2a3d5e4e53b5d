import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, type TestContext, test } from 'vitest';
import type { Heard, PluginSettings } from '../../src/core/witness/answer.ts';
import { judgeHeard } from '../../src/core/witness/messages.ts';
import { mayHold, silentLosses } from '../../src/core/witness/silent-loss.ts';
import {
  makeWorkDir,
  memoryBuffer,
  output,
  type Params,
  renderConf,
  type Section,
} from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import { HttpSink, type SinkPhase } from '../support/http-sink.ts';
import { missingFluentd, startFluentd, TESTED_VERSIONS, witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const LINES = 30;
/** Ruby for record_transformer. */
const RUBY_HOST = '$' + '{hostname}';
const RAISES = '$' + '{record["none"].upcase}';

interface Answer {
  ready: boolean;
  error: string | null;
  files: { pos: number; size: number }[];
  plugins: PluginSettings[];
  outputs: (PluginSettings & { n?: number })[];
}

/** One way from a file to an output, beside others in the same Fluentd. */
interface Way {
  name: string;
  lines?: (line: number) => string;
  parse?: Params;
  sections: readonly Section[];
}

const SOON = { flush_interval: '1s', retry_wait: '1s', retry_max_interval: '2s' };
const buffer = (more: Params = {}) => memoryBuffer({ ...SOON, ...more });
const toHttp = (port: number, more: Params = {}, bufferMore: Params = {}) =>
  output('http', { endpoint: `http://127.0.0.1:${port}/`, retryable_response_codes: '503', ...more }, [
    buffer(bufferMore),
  ]);
const filter = (type: string, params: Params = {}, sections: Section[] = []): Section => ({
  name: 'filter',
  arg: 'app',
  params: { '@type': type, ...params },
  sections,
});

describe.each(TESTED_VERSIONS)('what is heard of Fluentd %s', { concurrent: true }, (version) => {
  const skip = missingFluentd(version) !== undefined;

  test.skipIf(skip)(
    'everyday set-ups, with destinations that fail for a while, give no doubt',
    async (context) => {
      const [good, late] = [await sink(context), await sink(context, 'refusing')];
      const port = await freePort();
      const { heard, about } = await listen(
        context,
        version,
        [
          { name: 'plain', sections: [toHttp(good.port)] },
          { name: 'late', sections: [toHttp(late.port)] },
          // The buffer is full until the destination is back.
          {
            name: 'full',
            sections: [toHttp(late.port, {}, { chunk_limit_size: 300, total_limit_size: 500 })],
          },
          { name: 'slow', sections: [toHttp(good.port, { slow_flush_log_threshold: 0 })] },
          {
            name: 'file',
            sections: [
              output('file', { path: 'DIR/file/app', append: true }, [
                { name: 'buffer', params: { flush_mode: 'interval', flush_interval: '1s' } },
              ]),
            ],
          },
          {
            name: 'exec',
            sections: [
              output('exec', { command: "sh -c 'test -e DIR/tried || { touch DIR/tried; exit 1; }' x" }, [
                { name: 'format', params: { '@type': 'json' } },
                buffer(),
              ]),
            ],
          },
          {
            name: 'copy',
            sections: [
              output('copy', {}, [
                { ...toHttp(good.port), name: 'store' },
                { name: 'store', params: { '@type': 'null' } },
              ]),
            ],
          },
          {
            name: 'forward',
            sections: [
              output('forward', { require_ack_response: true }, [
                { name: 'server', params: { host: '127.0.0.1', port } },
                buffer(),
              ]),
            ],
          },
          {
            name: 'filters',
            lines: (line: number) => `{"message":"id=${line}","level":"info"}`,
            parse: { '@type': 'json' },
            sections: [
              filter('grep', {}, [{ name: 'exclude', params: { key: 'message', pattern: '/healthz/' } }]),
              filter('record_transformer', { enable_ruby: true }, [
                { name: 'record', params: { host: RUBY_HOST } },
              ]),
              filter('parser', { key_name: 'message', reserve_data: true }, [
                { name: 'parse', params: { '@type': 'none' } },
              ]),
              filter('stdout'),
              toHttp(good.port),
            ],
          },
        ],
        {
          port,
          meanwhile: async () => {
            await until('it is refused', () => late.requests > 0);
            late.phase = 'up';
          },
        },
      );
      const words = heard.map((one) => ({ ...one, is: judgeHeard(one, about) }));
      expect(words.filter(({ is }) => is === 'loss' || is === 'unknown')).toEqual([]);
      expect(words).toContainEqual(
        expect.objectContaining({ text: 'failed to flush the buffer.', is: 'retry' }),
      );
      expect(words).toContainEqual(expect.objectContaining({ text: 'retry succeeded.', is: 'harmless' }));
      expect(words).toContainEqual(
        expect.objectContaining({ text: 'command exits with error code', is: 'retry' }),
      );
      expect(words).toContainEqual(
        expect.objectContaining({ text: expect.stringMatching(/buffer overflow/), is: 'harmless' }),
      );
      expect(silentLosses(about)).toEqual([]);
      expect(about.filter(({ class: name }) => /Filter$/.test(name) && mayHold(name))).toEqual([]);
    },
  );

  test.skipIf(skip)('each loss is heard', async (context) => {
    const [good, bad] = [await sink(context), await sink(context, 'rejecting')];
    const { heard, about } = await listen(context, version, [
      {
        name: 'unmatched',
        parse: { '@type': 'regexp', expression: '/^(?<n>id=\\d[02468])$/' },
        sections: [toHttp(good.port)],
      },
      { name: 'nowhere', sections: [{ ...output('null'), arg: 'other' }] },
      {
        name: 'raise',
        sections: [
          filter('record_transformer', { enable_ruby: true }, [{ name: 'record', params: { x: RAISES } }]),
          toHttp(good.port),
        ],
      },
      { name: 'rejected', sections: [toHttp(bad.port, { error_response_as_unrecoverable: false })] },
      { name: 'unrecoverable', sections: [toHttp(bad.port)] },
      {
        name: 'given-up',
        sections: [toHttp(bad.port, { retryable_response_codes: '400' }, { retry_max_times: 1 })],
      },
      { name: 'large', sections: [toHttp(good.port, {}, { chunk_limit_size: 10 })] },
    ]);
    const losses = heard
      .filter((one) => judgeHeard(one, about) === 'loss')
      .map(({ file, text: said }) => `${file} ${said}`);
    for (const begin of [
      /in_tail\S* (pattern not matched|"…"$)/,
      /match\.rb no patterns matched/,
      /root_agent\.rb dump an error event/,
      /out_http\.rb got error response from/,
      /output\.rb got unrecoverable error in primary and no secondary/,
      /output\.rb Hit limit for retries/,
      /root_agent\.rb emit transaction failed/,
    ]) {
      expect(losses).toContainEqual(expect.stringMatching(begin));
    }
    expect(heard.filter((one) => judgeHeard(one, about) === 'unknown')).toEqual([]);
  });
});

/** What the witness reports in the life of one Fluentd that has all these ways, and the settings of its plugins. */
async function listen(
  { onTestFinished }: TestContext,
  version: string,
  ways: readonly Way[],
  { port, meanwhile }: { port?: number; meanwhile?: () => Promise<void> } = {},
): Promise<{ heard: readonly Heard[]; about: readonly PluginSettings[] }> {
  const { dir, logs } = makeWorkDir('heard');
  const witness = witnessIn(dir);
  const write = () => {
    for (const { name, lines = (line: number) => `id=${line + 10}` } of ways)
      appendFileSync(
        join(logs, `${name}.log`),
        `${Array.from({ length: LINES }, (_, line) => lines(line)).join('\n')}\n`,
      );
  };
  write();
  const next = port === undefined ? [] : nextHop(port);
  // What Fluentd gives up it puts aside below /tmp/fluent, which belongs to all.
  const system = { name: 'system', params: { root_dir: `${dir}/root` } };
  const conf = renderConf([system, ...next, ...ways.flatMap((way) => sectionsOf(way, dir))]).replaceAll(
    'DIR',
    dir,
  );
  const fluentd = startFluentd({ version, dir, conf });
  onTestFinished(() => fluentd.stop(0));
  await fluentd.ready;
  const fileIn = (end: string) => join(witness, `${readdirSync(witness).find((name) => name.endsWith(end))}`);
  const answerOf = (what: string, holds: (answer: Answer) => boolean) =>
    until(what, () => ask(fileIn('.sock')).then((answer) => (holds(answer) ? answer : undefined)), {
      within: 60_000,
      every: 200,
    });
  const isAllRead = (answer: Answer) => isRead(answer, ways.length);
  await answerOf('all is read', isAllRead);
  write();
  await meanwhile?.();
  const last = await answerOf('all is read and sent', (answer) => isAllRead(answer) && isSent(answer));
  await fluentd.stop();
  const { heard } = JSON.parse(readFileSync(fileIn('.end'), 'utf8')) as { heard: Heard[] };
  return { heard, about: [...last.plugins, ...last.outputs] };
}

function sectionsOf({ name, parse = { '@type': 'none' }, sections }: Way, dir: string): Section[] {
  const params = {
    '@type': 'tail',
    '@label': `@${name}`,
    path: `${dir}/logs/${name}.log`,
    pos_file: `${dir}/${name}.pos`,
    tag: 'app',
    read_from_head: true,
  };
  return [
    { name: 'source', params: params, sections: [{ name: 'parse', params: parse }] },
    { name: 'label', arg: `@${name}`, sections },
  ];
}

/** Where out_forward sends to. */
function nextHop(port: number): Section[] {
  return [
    { name: 'source', params: { '@type': 'forward', '@label': '@next', bind: '127.0.0.1', port } },
    { name: 'label', arg: '@next', sections: [output('null')] },
  ];
}

async function sink({ onTestFinished }: TestContext, phase: SinkPhase = 'up'): Promise<HttpSink> {
  const started = await HttpSink.start();
  started.phase = phase;
  onTestFinished(() => started.stop());
  return started;
}

function isRead({ ready, error, files }: Answer, count: number): boolean {
  if (!ready || error !== null || files.length < count) return false;
  return files.every(({ pos, size }) => pos === size);
}

function isSent({ outputs }: Answer): boolean {
  return outputs.every(({ n = 0 }) => n === 0);
}

async function ask(path: string): Promise<Answer> {
  const socket = connect(path);
  socket.on('error', () => undefined);
  socket.write('look\n');
  const answer = JSON.parse((await text(socket)) || '{}') as Partial<Answer>;
  return { ready: false, error: null, files: [], plugins: [], outputs: [], ...answer };
}
