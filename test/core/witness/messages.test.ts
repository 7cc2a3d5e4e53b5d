import { expect, test } from 'vitest';
import type { Heard, PluginSettings } from '../../../src/core/witness/answer.ts';
import { type Judgement, judgeHeard } from '../../../src/core/witness/messages.ts';

const OUTPUT = 'fluent/plugin/output.rb';
const AGENT = 'fluent/root_agent.rb';
const TAIL = 'fluent/plugin/in_tail.rb';
const PARSER_ERROR = 'Fluent::Plugin::Parser::ParserError';
const OVERFLOW = 'Fluent::Plugin::Buffer::BufferOverflowError';

function heardOf(more: Partial<Heard>): Heard {
  return { level: 'warn', file: OUTPUT, text: '', error: null, tag: null, during: null, n: 1, ...more };
}

function plugins(
  name: string,
  ...settings: readonly PluginSettings['settings'][]
): readonly PluginSettings[] {
  return settings.map((each) => ({ class: name, settings: each }));
}

function tails(...values: readonly boolean[]): readonly PluginSettings[] {
  return plugins('Fluent::Plugin::TailInput', ...values.map((value) => ({ emit_unmatched_lines: value })));
}

function parsers(...values: readonly boolean[]): readonly PluginSettings[] {
  return plugins('Fluent::Plugin::ParserFilter', ...values.map((value) => ({ reserve_data: value })));
}

test.each<[string, Partial<Heard>, Judgement]>([
  ['a flush that failed is a retry', { text: 'failed to flush the buffer.', during: 'flush' }, 'retry'],
  ['a retry that succeeded is harmless', { text: 'retry succeeded.' }, 'harmless'],
  ['a chunk that went to <secondary> is a loss', { text: 'retry succeeded by secondary.' }, 'loss'],
  [
    'a slow flush is harmless',
    { text: 'buffer flush took longer time than slow_flush_log_threshold:' },
    'harmless',
  ],
  [
    'a chunk that is given up is a loss',
    { text: 'Hit limit for retries. dropping all chunks in the buffer queue.' },
    'loss',
  ],
  [
    'a full buffer is harmless, as in_tail tries again',
    { text: 'failed to write data into buffer by buffer overflow' },
    'harmless',
  ],
  [
    'a chunk that makes room for others is a loss',
    { text: 'dropping oldest chunk to make space after buffer overflow' },
    'loss',
  ],
  [
    'a record without a <match> is a loss',
    { file: 'fluent/match.rb', text: 'no patterns matched', tag: 'app' },
    'loss',
  ],
  [
    "Fluentd's own event without a <match> is harmless",
    { file: 'fluent/match.rb', text: 'no patterns matched', tag: 'fluent.warn' },
    'harmless',
  ],
  [
    'a tag that only looks like one of its own is not',
    { file: 'fluent/match.rb', text: 'no patterns matched', tag: 'fluentd.app' },
    'loss',
  ],
  [
    'an error event is a loss',
    { file: AGENT, text: 'dump an error event:', error: 'RuntimeError', tag: 'app' },
    'loss',
  ],
  [
    "an error event of Fluentd's own is harmless",
    { file: AGENT, text: 'dump an error event:', tag: 'fluent.info' },
    'harmless',
  ],
  [
    'an emit that failed otherwise is a loss',
    { file: AGENT, text: 'emit transaction failed:', error: 'TypeError' },
    'loss',
  ],
  ['a line that is no record is a loss', { file: TAIL, text: 'pattern not matched: "x"' }, 'loss'],
  [
    'the same of Fluentd 1.20, which logs it by a block',
    { file: 'fluent/plugin/in_tail/line_feeder.rb', text: '"…"' },
    'loss',
  ],
  [
    'an empty line of Fluentd 1.20 is harmless',
    { file: 'fluent/plugin/in_tail/line_feeder.rb', text: '""' },
    'harmless',
  ],
  ['an empty line is harmless', { file: TAIL, text: 'pattern not matched: ""' }, 'harmless'],
  [
    'a file that in_tail may not read is harmless here',
    { file: TAIL, text: '… unreadable. It is excluded and would be' },
    'harmless',
  ],
  [
    'what in_tail has never been read to say is unknown',
    { file: TAIL, text: 'an error of another kind' },
    'unknown',
  ],
  [
    'whatever another input says is harmless',
    { file: 'fluent/plugin/in_syslog.rb', text: 'invalid input' },
    'harmless',
  ],
  [
    'an answer that out_http accepts but does not like is a loss',
    { file: 'fluent/plugin/out_http.rb', text: "got error response from 'Post http:… : # x" },
    'loss',
  ],
  [
    'a command that failed is a retry',
    { file: 'fluent/plugin/out_exec.rb', text: 'command exits with error code' },
    'retry',
  ],
  [
    'a plugin that no row knows is unknown',
    { file: 'fluent/plugin/out_acme.rb', text: 'could not send' },
    'unknown',
  ],
  [
    'the same in an attempt that failed is a retry',
    { file: 'fluent/plugin/out_acme.rb', text: 'could not send', during: 'flush' },
    'retry',
  ],
  [
    'a loss in an attempt that failed is a loss',
    {
      file: 'fluent/plugin/out_kafka2.rb',
      text: 'unexpected error during format record. Skip broken event:',
      during: 'flush',
    },
    'loss',
  ],
  [
    'loki: 429 is a retry',
    { file: 'fluent/plugin/out_loki.rb', text: 'failed to write post to http:…', during: 'flush' },
    'retry',
  ],
  [
    'loki: 400, in the same words, is a loss',
    { file: 'fluent/plugin/out_loki.rb', text: 'failed to write post to http:…' },
    'loss',
  ],
  [
    'cloudwatch: a put that is repeated is a retry',
    { file: 'fluent/plugin/out_cloudwatch_logs.rb', text: 'failed to PutLogEvents' },
    'retry',
  ],
  [
    'cloudwatch: the longer text is a loss',
    { file: 'fluent/plugin/out_cloudwatch_logs.rb', text: 'failed to PutLogEvents and discard logs because' },
    'loss',
  ],
  [
    'cloudwatch: rejected events, logged as a Struct, are a loss',
    { file: 'fluent/plugin/out_cloudwatch_logs.rb', text: '' },
    'loss',
  ],
  [
    'a text is known only with its source file',
    { file: 'fluent/plugin/out_acme.rb', text: 'retry succeeded.' },
    'unknown',
  ],
  ['a text is known only from its beginning', { text: 'not so: retry succeeded.' }, 'unknown'],
  [
    'a file name is known only as a whole',
    { file: 'fluent/plugin/out_http.rb.bak', text: 'got error response from' },
    'unknown',
  ],
  [
    'elasticsearch: a connection that is reset is a retry',
    {
      file: 'fluent/plugin/elasticsearch_index_template.rb',
      text: 'Could not communicate to Elasticsearch, resetting connection and trying again.',
    },
    'retry',
  ],
  [
    's3: an object that is written over is a loss',
    { file: 'fluent/plugin/out_s3.rb', text: 'logs… already exists, but will overwrite' },
    'loss',
  ],
  [
    'more kinds than the witness counts are unknown',
    { file: '', text: 'more kinds than are counted' },
    'unknown',
  ],
])('%s', (_, more, judgement) => {
  expect(judgeHeard(heardOf(more), [])).toBe(judgement);
});

const unmatched = { file: TAIL, text: 'pattern not matched: "x"' };
const refused = {
  file: AGENT,
  text: "dump an error event: pattern not matched with data 'x'",
  error: PARSER_ERROR,
  tag: 'app',
};

test.each<[string, Partial<Heard>, readonly PluginSettings[], Judgement]>([
  ['a line that does not match goes on with emit_unmatched_lines', unmatched, tails(true, true), 'harmless'],
  ['but one in_tail without it is a doubt', unmatched, tails(true, false), 'loss'],
  ['a record that parser refuses goes on with reserve_data', refused, parsers(true), 'harmless'],
  ['it is lost without reserve_data', refused, parsers(true, false), 'loss'],
  ['it is lost when nobody tells the settings', refused, [], 'loss'],
  [
    'a parser that fails loses the record in spite of reserve_data',
    { ...refused, text: 'dump an error event: parse failed x' },
    parsers(true),
    'loss',
  ],
  [
    'a record without the key goes on with reserve_data',
    { ...refused, text: 'dump an error event: log does not exist', error: 'ArgumentError' },
    parsers(true),
    'harmless',
  ],
  [
    'the same holds where <label @ERROR> takes a copy',
    { ...refused, text: "send an error event to @ERROR: pattern not matched with data 'x'" },
    parsers(true),
    'harmless',
  ],
  [
    'an emit that met a full buffer is harmless: in_tail tries again',
    { file: AGENT, text: 'emit transaction failed:', error: OVERFLOW },
    [{ class: 'Fluent::Plugin::TailInput', settings: { multiline_mode: false } }],
    'harmless',
  ],
  [
    'an emit that met a full buffer is a loss beside a multiline source, which has cut its record by then',
    { file: AGENT, text: 'emit transaction failed:', error: OVERFLOW },
    [{ class: 'Fluent::Plugin::TailInput', settings: { multiline_mode: true } }],
    'loss',
  ],
])('%s', (_, more, about, judgement) => {
  expect(judgeHeard(heardOf(more), about)).toBe(judgement);
});
