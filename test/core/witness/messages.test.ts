import { expect, test } from 'vitest';
import type { Heard, PluginSettings } from '../../../src/core/witness/answer.ts';
import { type Judgement, judgeHeard } from '../../../src/core/witness/messages.ts';

const OUTPUT = 'fluent/plugin/output.rb';
const AGENT = 'fluent/root_agent.rb';
const PARSER_ERROR = 'Fluent::Plugin::Parser::ParserError';
const OVERFLOW = 'Fluent::Plugin::Buffer::BufferOverflowError';
const LINE_FEEDER = 'in_tail/line_feeder';

function heardOf(more: Partial<Heard>): Heard {
  return { level: 'warn', file: OUTPUT, text: '', error: null, tag: null, during: null, n: 1, ...more };
}

const by = (plugin: string, text: string) => ({ file: `fluent/plugin/${plugin}.rb`, text });
const unrouted = (tag: string) => ({ file: 'fluent/match.rb', text: 'no patterns matched', tag });
const event = (text: string, error?: string, tag = 'app') => ({
  file: AGENT,
  text,
  error: error ?? null,
  tag,
});
const inFlush = (heard: Partial<Heard>) => ({ ...heard, during: 'flush' as const });

function plugins(
  name: string,
  ...settings: readonly PluginSettings['settings'][]
): readonly PluginSettings[] {
  return settings.map((each) => ({ class: `Fluent::Plugin::${name}`, settings: each }));
}

/** Each message of Fluentd with its judgement. */
const HEARD: Readonly<Record<Judgement, Readonly<Record<string, Partial<Heard>>>>> = {
  retry: {
    'a flush that failed': inFlush({ text: 'failed to flush the buffer.' }),
    'a command that failed': by('out_exec', 'command exits with error code'),
    'what an unknown plugin says in an attempt that failed': inFlush(by('out_acme', 'could not send')),
    'of loki 429': inFlush(by('out_loki', 'failed to write post to http:…')),
    'of cloudwatch a put that is repeated': by('out_cloudwatch_logs', 'failed to PutLogEvents'),
    'of elasticsearch a connection that is reset': by(
      'elasticsearch_index_template',
      'Could not communicate to Elasticsearch, resetting connection and trying again.',
    ),
  },
  harmless: {
    'a retry that succeeded': { text: 'retry succeeded.' },
    'a slow flush': { text: 'buffer flush took longer time than slow_flush_log_threshold:' },
    'a full buffer, as in_tail tries again': { text: 'failed to write data into buffer by buffer overflow' },
    "Fluentd's own event without a <match>": unrouted('fluent.warn'),
    "an error event of Fluentd's own": event('dump an error event:', undefined, 'fluent.info'),
    'an empty line of Fluentd 1.20': by(LINE_FEEDER, '""'),
    'an empty line': by('in_tail', 'pattern not matched: ""'),
    'an empty rest of a multiline log': by('in_tail', 'got incomplete line at shutdown from … ""'),
    'a file that in_tail may not read': by('in_tail', '… unreadable. It is excluded and would be'),
    'whatever another input says': by('in_syslog', 'invalid input'),
  },
  counted: {
    'a chunk that went to <secondary>': { text: 'retry succeeded by secondary.' },
    'a chunk that is given up': { text: 'Hit limit for retries. dropping all chunks in the buffer queue.' },
    'a chunk that makes room for others': {
      text: 'dropping oldest chunk to make space after buffer overflow',
    },
    'a chunk that was thrown away in an attempt': inFlush({ text: 'disable_chunk_backup is true. #' }),
  },
  loss: {
    'a record without a <match>': unrouted('app'),
    "a record whose tag only looks like one of Fluentd's own": unrouted('fluentd.app'),
    'an error event': event('dump an error event:', 'RuntimeError'),
    'an emit that failed otherwise': event('emit transaction failed:', 'TypeError'),
    'a line that is no record': by('in_tail', 'pattern not matched: "x"'),
    'a line that is no record in Fluentd 1.20': by(LINE_FEEDER, '"…"'),
    'an answer that out_http does not like': by('out_http', "got error response from 'Post http:… : # x"),
    'a loss in an attempt that failed': inFlush(
      by('out_kafka2', 'unexpected error during format record. Skip broken event:'),
    ),
    'of loki 400, in the same words,': by('out_loki', 'failed to write post to http:…'),
    'of cloudwatch the longer text': by(
      'out_cloudwatch_logs',
      'failed to PutLogEvents and discard logs because',
    ),
    'of cloudwatch rejected events, logged as a Struct,': by('out_cloudwatch_logs', ''),
    'of s3 an object that is written over': by('out_s3', 'logs… already exists, but will overwrite'),
  },
  unknown: {
    'what in_tail has never been read to say': by('in_tail', 'an error of another kind'),
    'a plugin that no row knows': by('out_acme', 'could not send'),
    'a text of another source file': by('out_acme', 'retry succeeded.'),
    'a text that is known from its beginning alone': { text: 'not so: retry succeeded.' },
    'a file name that is not the whole one': {
      ...by('out_http', 'got error response from'),
      file: 'fluent/plugin/out_http.rb.bak',
    },
    'what is of more kinds than the witness counts': { file: '', text: 'more kinds than are counted' },
  },
};

for (const [judgement, heard] of Object.entries(HEARD))
  test.each(Object.entries(heard))(`%s counts as ${judgement}`, (_, more) => {
    expect(judgeHeard(heardOf(more), [])).toBe(judgement);
  });

const unmatched = by('in_tail', 'pattern not matched: "x"');
const refused = event("dump an error event: pattern not matched with data 'x'", PARSER_ERROR);
const keyless = event('dump an error event: log does not exist', 'ArgumentError');
const copied = event("send an error event to @ERROR: pattern not matched with data 'x'", PARSER_ERROR);
const failed = event('dump an error event: parse failed x', PARSER_ERROR);
const overflown = event('emit transaction failed:', OVERFLOW);
const [emits, dropsUnmatched] = [{ emit_unmatched_lines: true }, { emit_unmatched_lines: false }];
const [reserves, dropsData] = [{ reserve_data: true }, { reserve_data: false }];
const tail = (...settings: readonly PluginSettings['settings'][]) => plugins('TailInput', ...settings);
const parser = (...settings: readonly PluginSettings['settings'][]) => plugins('ParserFilter', ...settings);

test.each<[string, Partial<Heard>, readonly PluginSettings[], Judgement]>([
  ['a line that does not match goes on with emit_unmatched_lines', unmatched, tail(emits, emits), 'harmless'],
  ['but one in_tail without it is a doubt', unmatched, tail(emits, dropsUnmatched), 'loss'],
  ['a record that parser refuses goes on with reserve_data', refused, parser(reserves), 'harmless'],
  ['it is lost without reserve_data', refused, parser(reserves, dropsData), 'loss'],
  ['it is lost when nobody tells the settings', refused, [], 'loss'],
  ['a parser that fails loses it in spite of reserve_data', failed, parser(reserves), 'loss'],
  ['a record without the key goes on with reserve_data', keyless, parser(reserves), 'harmless'],
  ['the same holds where <label @ERROR> takes a copy', copied, parser(reserves), 'harmless'],
  ['in_tail tries an emit into a full buffer again', overflown, tail({ multiline_mode: false }), 'harmless'],
  ['but a multiline source has cut its record by then', overflown, tail({ multiline_mode: true }), 'loss'],
])('%s', (_, more, about, judgement) => {
  expect(judgeHeard(heardOf(more), about)).toBe(judgement);
});
