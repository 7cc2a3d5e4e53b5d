import { expect, test } from 'vitest';
import type { Message, PluginSettings } from '../../../src/core/witness/answer.ts';
import { isHarmless } from '../../../src/core/witness/harmless-messages.ts';

const OUTPUT = 'fluent/plugin/output.rb';
const AGENT = 'fluent/root_agent.rb';
const PARSER_ERROR = 'Fluent::Plugin::Parser::ParserError';
const LINE_FEEDER = 'in_tail/line_feeder';

function messageOf(more: Partial<Message>): Message {
  return { level: 'warn', file: OUTPUT, text: '', error: null, n: 1, ...more };
}

const by = (plugin: string, text: string) => ({ file: `fluent/plugin/${plugin}.rb`, text });
const event = (text: string, error?: string) => ({ file: AGENT, text, error: error ?? null });

function plugins(
  name: string,
  ...settings: readonly PluginSettings['settings'][]
): readonly PluginSettings[] {
  return settings.map((each) => ({ class: `Fluent::Plugin::${name}`, settings: each }));
}

const HARMLESS: Readonly<Record<string, Partial<Message>>> = {
  'a flush that failed': { text: 'failed to flush the buffer.' },
  'a command that failed': by('out_exec', 'command exits with error code'),
  'of cloudwatch a put that is repeated': by('out_cloudwatch_logs', 'failed to PutLogEvents'),
  'of elasticsearch a connection that is reset': by(
    'elasticsearch_index_template',
    'Could not communicate to Elasticsearch, resetting connection and trying again.',
  ),
  'a retry that succeeded': { text: 'retry succeeded.' },
  'a slow flush': { text: 'buffer flush took longer time than slow_flush_log_threshold:' },
  'a full buffer, as in_tail tries again': { text: 'failed to write data into buffer by buffer overflow' },
  'an empty line of Fluentd 1.20': by(LINE_FEEDER, 'pattern not matched: ""'),
  'a parser that one thread runs': by(
    LINE_FEEDER,
    'in_tail worker parsing is unavailable; using synchronous',
  ),
  'an empty line': by('in_tail', 'pattern not matched: ""'),
  'an empty rest of a multiline log': by('in_tail', 'got incomplete line at shutdown from … ""'),
  'a file that in_tail may not read': by('in_tail', '… unreadable. It is excluded and would be'),
  'whatever another input says': by('in_syslog', 'invalid input'),
  'a chunk that went to <secondary>, which is counted': { text: 'retry succeeded by secondary.' },
  'a chunk that is given up, which is counted': { text: 'Hit limit for retries. dropping all chunks' },
  'an emit that failed, which is counted': event('emit transaction failed:', 'TypeError'),
  'a record without a <match>, which is counted': { file: 'fluent/match.rb', text: 'no patterns matched' },
};

const DOUBTS: Readonly<Record<string, Partial<Message>>> = {
  'an error event': event('dump an error event:', 'RuntimeError'),
  'a line that is no record': by('in_tail', 'pattern not matched: "x"'),
  'a line that is no record in Fluentd 1.20': by(LINE_FEEDER, 'pattern not matched: "…"'),
  'an answer that out_http does not like': by('out_http', "got error response from 'Post http:… : # x"),
  'of loki 400': by('out_loki', 'failed to write post to http:…'),
  'of cloudwatch the longer text': by(
    'out_cloudwatch_logs',
    'failed to PutLogEvents and discard logs because',
  ),
  'of cloudwatch rejected events, logged as a Struct,': by('out_cloudwatch_logs', ''),
  'a chunk that no backup could take': { text: 'failed to back up # chunk. it is thrown away' },
  'what in_tail has never been read to say': by('in_tail', 'an error of another kind'),
  'a plugin that no row knows': by('out_acme', 'could not send'),
  'a text of another source file': by('out_acme', 'retry succeeded.'),
  'a text that is known from its beginning alone': { text: 'not so: retry succeeded.' },
  'a file name that is not the whole one': { file: 'fluent/plugin/out_exec.rb.bak', text: 'x' },
};

test.each(Object.entries(HARMLESS))('%s is harmless', (_, message) => {
  expect(isHarmless(messageOf(message), [])).toBe(true);
});

test.each(Object.entries(DOUBTS))('%s is a doubt', (_, message) => {
  expect(isHarmless(messageOf(message), [])).toBe(false);
});

const unmatched = by('in_tail', 'pattern not matched: "x"');
const refused = event("dump an error event: pattern not matched with data 'x'", PARSER_ERROR);
const keyless = event('dump an error event: log does not exist', 'ArgumentError');
const copied = event("send an error event to @ERROR: pattern not matched with data 'x'", PARSER_ERROR);
const failed = event('dump an error event: parse failed x', PARSER_ERROR);
const overflown = { file: 'posidle', text: 'a full buffer refused a batch' };
const [emits, dropsUnmatched] = [{ emit_unmatched_lines: true }, { emit_unmatched_lines: false }];
const [reserves, dropsData] = [{ reserve_data: true }, { reserve_data: false }];
const tail = (...settings: readonly PluginSettings['settings'][]) => plugins('TailInput', ...settings);
const joining = [...tail({ multiline_mode: false }), ...plugins('ConcatFilter', {})];
const parser = (...settings: readonly PluginSettings['settings'][]) => plugins('ParserFilter', ...settings);

test.each<[string, Partial<Message>, readonly PluginSettings[], boolean]>([
  ['a line that does not match goes on with emit_unmatched_lines', unmatched, tail(emits, emits), true],
  ['but one in_tail without it is a doubt', unmatched, tail(emits, dropsUnmatched), false],
  ['a record that parser refuses goes on with reserve_data', refused, parser(reserves), true],
  ['it is lost without reserve_data', refused, parser(reserves, dropsData), false],
  ['it is lost when nobody tells the settings', refused, [], false],
  ['a parser that fails loses it in spite of reserve_data', failed, parser(reserves), false],
  ['a record without the key goes on with reserve_data', keyless, parser(reserves), true],
  ['the same holds where <label @ERROR> takes a copy', copied, parser(reserves), true],
  ['in_tail tries an emit into a full buffer again', overflown, tail({ multiline_mode: false }), true],
  ['but a multiline source has cut its record by then', overflown, tail({ multiline_mode: true }), false],
  ['and so has a filter that joins lines of several batches', overflown, joining, false],
])('%s', (_, more, about, isHarmlessThen) => {
  expect(isHarmless(messageOf(more), about)).toBe(isHarmlessThen);
});
