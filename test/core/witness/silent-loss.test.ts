import { expect, test } from 'vitest';
import type { PluginSettings } from '../../../src/core/witness/answer.ts';
import { mayHold, silentLosses } from '../../../src/core/witness/silent-loss.ts';

const acks = (require_ack_response: boolean) => ({ require_ack_response });
const ids = (write_operation: string, emit_error_for_missing_id = false) => {
  return { write_operation, emit_error_for_missing_id };
};
const UNTOLD = { emit_error_label_event: false };
const UNANSWERED = { required_acks: 0 };
const s3 = (s3_object_key_format: string, check_object = false) => ({ check_object, s3_object_key_format });
const BY_TIME = '%{path}%{time_slice}';
const writing = (writers: number, more = {}) => ({ ...s3(BY_TIME, true), writers, ...more });
const redis = (insert_key_prefix: string) => ({ allow_duplicate_key: false, insert_key_prefix });
const rejects = (log_rejected_request: boolean) => ({ log_rejected_request });

test.each<[string, string, PluginSettings['settings'], string | undefined]>([
  ['forward without acknowledgement', 'Plugin::ForwardOutput', acks(false), 'require_ack_response true'],
  ['forward of which nobody tells', 'Plugin::ForwardOutput', {}, 'require_ack_response true'],
  ['forward with acknowledgement', 'Plugin::ForwardOutput', acks(true), undefined],
  ['cloudwatch_logs as it is', 'Plugin::CloudwatchLogsOutput', rejects(false), 'log_rejected_request true'],
  ['an older cloudwatch_logs', 'Plugin::CloudwatchLogsOutput', {}, 'log_rejected_request true'],
  ['cloudwatch_logs that tells', 'Plugin::CloudwatchLogsOutput', rejects(true), undefined],
  ['opensearch as it is', 'Plugin::OpenSearchOutput', UNTOLD, 'label_event true'],
  ['opensearch_data_stream as it is', 'Plugin::OpenSearchOutputDataStream', UNTOLD, 'label_event true'],
  ['an older opensearch, without the setting', 'Plugin::OpenSearchOutput', {}, undefined],
  ['an older rewrite_tag_filter', 'Plugin::RewriteTagFilterOutput', {}, 'emit_mode batch'],
  ['rewrite_tag_filter by record', 'Plugin::RewriteTagFilterOutput', { emit_mode: 'record' }, 'mode batch'],
  ['rewrite_tag_filter that is counted', 'Plugin::RewriteTagFilterOutput', { emit_mode: 'batch' }, undefined],
  ['kafka2 that waits for no answer', 'Kafka2Output', UNANSWERED, 'required_acks'],
  ['rdkafka2 that waits for no answer', 'Rdkafka2Output', UNANSWERED, 'required_acks'],
  ['kafka_buffered that waits for no answer', 'KafkaOutputBuffered', UNANSWERED, 'required_acks'],
  ['rdkafka that waits for no answer', 'KafkaOutputBuffered2', UNANSWERED, 'required_acks'],
  ['kafka that waits for no answer', 'KafkaOutput', UNANSWERED, 'required_acks'],
  ['kafka2 that waits for all', 'Kafka2Output', { required_acks: -1 }, undefined],
  ['gelf', 'Plugin::GelfOutput', {}, 'no destination confirms'],
  ['remote_syslog', 'Plugin::RemoteSyslogOutput', {}, 'no destination confirms'],
  ['syslog_rfc5424', 'Plugin::OutSyslogRFC5424', {}, 'no destination confirms'],
  ['papertrail', 'Papertrail', {}, 'no destination confirms'],
  ['logentries', 'LogentriesOutput', {}, 'no destination confirms'],
  ['sqs', 'Plugin::SQSOutput', {}, 'another output'],
  ['datadog without HTTP', 'DatadogOutput', { use_http: false }, 'use_http true'],
  ['splunk_hec that asks for no acknowledgement', 'SplunkHECOutput', { use_ack: false }, 'use_ack true'],
  ['splunk_hec that asks for one', 'SplunkHECOutput', { use_ack: true }, undefined],
  ['splunk_tcp', 'SplunkTCPOutput', {}, 'no destination confirms'],
  ['route', 'Plugin::RouteOutput', {}, 'rewrite_tag_filter'],
  ['label_router as it is', 'Plugin::LabelRouterOutput', { default_route: '' }, 'default_route'],
  ['label_router with one for the rest', 'Plugin::LabelRouterOutput', { default_route: '@rest' }, undefined],
  ['elasticsearch as it is', 'Plugin::ElasticsearchOutput', ids('index'), undefined],
  ['elasticsearch that needs ids', 'Plugin::ElasticsearchOutput', ids('upsert'), 'missing_id true'],
  ['opensearch that needs ids', 'Plugin::OpenSearchOutput', ids('create'), 'missing_id true'],
  ['elasticsearch by a word that it does not know', 'Plugin::ElasticsearchOutput', ids('Create'), 'unknown'],
  ['elasticsearch_dynamic that needs ids', 'Plugin::ElasticsearchOutputDynamic', ids('create'), 'missing_id'],
  ['elasticsearch that tells', 'Plugin::ElasticsearchOutput', ids('create', true), undefined],
  ['s3 as it is', 'Plugin::S3Output', s3(BY_TIME, true), undefined],
  ['s3 with one thread in one worker', 'Plugin::S3Output', writing(1), undefined],
  [
    's3 of two threads that find no object and write it',
    'Plugin::S3Output',
    writing(2),
    's3_object_key_format',
  ],
  ['gcs of two threads', 'Plugin::GCSOutput', { ...writing(2), blind_write: false }, 'object_key_format'],
  ['s3 that overwrites', 'Plugin::S3Output', s3(BY_TIME), 's3_object_key_format'],
  [
    's3 with a placeholder of another form',
    'Plugin::S3Output',
    s3(`%{chunk_id}_$\{hex_random}`),
    's3_object',
  ],
  [
    's3 with a name for each second',
    'Plugin::S3Output',
    s3('%{time_slice}_%{hms_slice}'),
    's3_object_key_format',
  ],
  ['s3 with a name for each chunk', 'Plugin::S3Output', s3('%{time_slice}_%{hex_random}'), undefined],
  [
    'gcs that overwrites',
    'Plugin::GCSOutput',
    { blind_write: true, object_key_format: BY_TIME },
    'object_key_format',
  ],
  ['redis', 'Plugin::RedisOutput', redis('app'), 'insert_key_prefix'],
  ['redis with a key for each chunk', 'Plugin::RedisOutput', redis(`app.$\{chunk_id}`), undefined],
  [
    'redis with a placeholder of another form',
    'Plugin::RedisOutput',
    redis('app.%{hex_random}'),
    'insert_key',
  ],
  ['a plugin that is not known', 'Plugin::AcmeOutput', {}, undefined],
])('%s', (_, name, settings, says) => {
  const found = silentLosses([{ class: `Fluent::${name}`, settings }]);
  expect(found.map(([, why]) => why)).toEqual(says === undefined ? [] : [expect.stringContaining(says)]);
});

test('two plugins with the same gap are one sentence', () => {
  const forward = { class: 'Fluent::Plugin::ForwardOutput', settings: { require_ack_response: false } };
  expect(silentLosses([forward, forward])).toHaveLength(1);
});

test.each<[string, string, boolean, boolean?]>([
  ['an output holds nothing that its buffer does not', 'Fluent::Plugin::AcmeOutput', false, true],
  ['exec_filter may hold what its command has not answered', 'Fluent::Plugin::ExecFilterOutput', true, true],
  ['a filter that passes each record on holds nothing', 'Fluent::Plugin::GrepFilter', false],
  ['what concat holds is seen', 'Fluent::Plugin::ConcatFilter', false],
  ['what detect_exceptions holds is seen', 'Fluent::DetectExceptionsOutput', false],
  ['copy holds nothing', 'Fluent::Plugin::CopyOutput', false],
  ['the filter of OpenShift holds nothing', 'Fluent::ViaqDataModelFilter', false],
  ['a filter that is not known may hold records', 'Fluent::Plugin::AcmeFilter', true],
])('%s', (_, name, holds, hasBuffer = false) => {
  expect(mayHold({ class: name, settings: {}, buffer: hasBuffer ? 'there' : 'none' })).toBe(holds);
});
