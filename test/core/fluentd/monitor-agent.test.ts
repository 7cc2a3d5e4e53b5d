import { describe, expect, test } from 'vitest';
import {
  type MonitoredOutput,
  parseAgentIdentity,
  parsePlugins,
} from '../../../src/core/fluentd/monitor-agent.ts';

/** Real answers: an out_forward to a closed port, and outputs and inputs without a buffer beside it. */
const ANSWER_1_14_6 = `{"plugins":[{"plugin_id":"object:870","plugin_category":"input","type":"dummy","output_plugin":false,
"retry_count":null,"emit_records":0,"emit_size":0},{"plugin_id":"out","plugin_category":"output","type":"forward",
"output_plugin":true,"buffer_queue_length":1,"buffer_timekeys":[],"buffer_total_queued_size":675,"retry_count":3,
"emit_records":25,"emit_size":0,"emit_count":25,"write_count":3,"rollback_count":3,"slow_flush_count":0,"flush_time_count":0,
"buffer_stage_length":1,"buffer_stage_byte_size":405,"buffer_queue_byte_size":270,"buffer_available_buffer_space_ratios":100.0,
"healthy_nodes_count":1,"registered_nodes_count":1,"retry":{"start":"2026-11-21 23:56:24 +0000","steps":2,
"next_time":"2026-11-21 23:56:31 +0000"}},{"plugin_id":"object:834","plugin_category":"output","type":"stdout",
"output_plugin":true,"retry_count":0,"emit_records":6,"emit_size":0,"emit_count":6,"write_count":0,"rollback_count":0,
"slow_flush_count":0,"flush_time_count":0,"retry":{}}]}`;
const ANSWER_1_20_1 = `{"plugins":[{"plugin_id":"object:d70","plugin_category":"input","type":"sample","output_plugin":false,
"retry_count":null,"emit_records":22,"emit_size":0},{"plugin_id":"out","plugin_category":"output","type":"forward",
"output_plugin":true,"buffer_queue_length":1,"buffer_timekeys":[],"buffer_total_queued_size":540,"retry_count":2,
"emit_records":20,"emit_size":0,"emit_count":20,"write_count":2,"write_secondary_count":0,"rollback_count":2,
"slow_flush_count":0,"flush_time_count":0,"drop_oldest_chunk_count":0,"buffer_stage_length":1,"buffer_stage_byte_size":270,
"buffer_queue_byte_size":270,"buffer_available_buffer_space_ratios":100.0,"healthy_nodes_count":1,"registered_nodes_count":1},
{"plugin_id":"object:d34","plugin_category":"output","type":"stdout","output_plugin":true,"retry_count":0,"emit_records":6,
"emit_size":0,"emit_count":6,"write_count":0,"write_secondary_count":0,"rollback_count":0,"slow_flush_count":0,
"flush_time_count":0,"drop_oldest_chunk_count":0}]}`;

describe('the answer of a monitor_agent', () => {
  test('of 1.14.6 tells of each output with a buffer', () => {
    const counters = { chunks: 2, bytes: 675, sent: 0, failures: 3, emitted: 25, emitErrors: 0, space: 100 };
    expect(parsePlugins(ANSWER_1_14_6)).toEqual([
      { id: 'out', type: 'forward', retrying: true, ...counters },
    ]);
  });

  test('of 1.20.1 tells of each output with a buffer, and of no retries where it is not set to', () => {
    const counters = {
      chunks: 2,
      bytes: 540,
      sent: 0,
      failures: 2,
      dropped: 0,
      emitted: 20,
      emitErrors: 0,
      space: 100,
    };
    expect(parsePlugins(ANSWER_1_20_1)).toEqual([
      { id: 'out', type: 'forward', retrying: false, ...counters },
    ]);
  });

  test.each<[string, object, Partial<MonitoredOutput>]>([
    ['counts staged and queued chunks', { buffer_queue_length: 2, buffer_stage_length: 3 }, { chunks: 5 }],
    [
      'takes sizes below zero for none',
      { buffer_total_queued_size: -8, buffer_queue_length: -1 },
      { bytes: 0, chunks: 0 },
    ],
    [
      'counts as sent what was not rolled back',
      { write_count: 5, rollback_count: 2 },
      { sent: 3, failures: 2 },
    ],
    [
      'counts as errors of an emit those that are no failed attempt',
      { retry_count: 5, rollback_count: 2 },
      { emitErrors: 3 },
    ],
    ['never counts errors below zero', { retry_count: 1, rollback_count: 2 }, { emitErrors: 0 }],
    ['retries while it tells of a retry', { retry: { steps: 0 } }, { retrying: true }],
    ['does not retry where the retry is empty', { retry: {} }, { retrying: false }],
    ['does not retry though it has failed before', { retry_count: 9 }, { retrying: false }],
    ['has all its room where it does not say', {}, { space: 100 }],
    ['has the room that it says', { buffer_available_buffer_space_ratios: 4.2 }, { space: 4.2 }],
    ['has emitted nothing where it does not say', {}, { emitted: 0, sent: 0 }],
  ])('of an output %s', (_, plugin, output) => {
    const text = JSON.stringify({ plugins: [{ plugin_id: 'out', buffer_queue_length: 0, ...plugin }] });
    expect(parsePlugins(text)).toMatchObject([output]);
  });

  test.each(['', 'null', '[]', '"text"', '{}', '{"plugins":{}}', '{"plugins":[', '<html></html>'])(
    'is none where it is %j',
    (text) => {
      expect(parsePlugins(text)).toBeUndefined();
    },
  );

  test('may have no output', () => {
    expect(parsePlugins('{"plugins":[]}')).toEqual([]);
  });
});

describe('the process that answers', () => {
  test.each([
    ['{"pid":13331,"ppid":13330,"version":"1.14.6","root_dir":null}', '13331 13330'],
    ['{"version":"1.14.6"}', undefined],
    ['{"pid":"13331"}', undefined],
    ['not found', undefined],
    ['null', undefined],
  ])('is told by %s: %s', (text, identity) => {
    expect(parseAgentIdentity(text)).toBe(identity);
  });
});

describe('an answer of somebody else in its place', () => {
  test.each([
    ['[null]', []],
    ['[1, "x", [], {}]', []],
    [
      '[{"buffer_queue_length": 1, "plugin_id": {"a": 1}, "type": [], "retry": 5, "write_count": "9", "drop_oldest_chunk_count": {}}]',
      [{ id: '', type: '', chunks: 1, retrying: false, sent: 0, dropped: undefined }],
    ],
  ])('%s holds up nothing', (plugins, outputs) => {
    expect(parsePlugins(`{"plugins": ${plugins}}`)).toMatchObject(outputs);
  });

  test('of more plugins than a Fluentd has is none', () => {
    const plugins = (count: number) =>
      JSON.stringify({ plugins: Array(count).fill({ buffer_queue_length: 1 }) });
    expect(parsePlugins(plugins(1_000))).toHaveLength(1_000);
    expect(parsePlugins(plugins(1_001))).toBeUndefined();
  });

  test('names a process by numbers alone', () => {
    expect(parseAgentIdentity('{"pid": 1, "ppid": {"toString": 1, "valueOf": 1}}')).toBe('1 ');
  });
});
