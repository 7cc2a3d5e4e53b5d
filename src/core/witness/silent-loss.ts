import type { PluginSettings } from './answer.ts';

/** [the plugin's class, its name in fluent.conf, why with the remedy, only with all these settings]. */
type Row = readonly [
  plugin: string,
  about: string,
  why: string,
  settings?: Readonly<Record<string, Condition>>,
];
/** Gets undefined for a setting that the plugin does not have. */
type Condition = (value: unknown) => boolean;

const NO_CONFIRMATION = 'no destination confirms what it was sent';
const SET_ACK = `${NO_CONFIRMATION}: set require_ack_response true`;
const USE_FORWARD = `${NO_CONFIRMATION}: use forward with require_ack_response true`;
const NO_ACKS = 'no broker confirms what it was sent: set required_acks to -1 or 1';
const NO_EVENT = 'records that are refused vanish without a message: set emit_error_label_event true';
const NO_RULE = 'records that no rule fits vanish without a message: use 2.3 or later, with emit_mode batch';
const NO_ROUTE = 'records that no <route> fits vanish without a message: use rewrite_tag_filter';
const NO_DEFAULT = 'records that no <route> fits vanish without a message: set default_route';
const NO_ID =
  'records without an id, or by an unknown write_operation, vanish without a message: set emit_error_for_missing_id true';
const REJECTED = 'events that CloudWatch rejects vanish without a message: set log_rejected_request true';
const NO_HTTP = 'without HTTP nothing confirms what was sent: set use_http true';
const NO_STATUS = "Splunk's errors vanish without a message: set use_ack true";
const SAME_NAME = `chunks of one time may overwrite each other: put $\{chunk_id} into`;

const is =
  (...values: readonly unknown[]): Condition =>
  (value) =>
    values.includes(value);
/** No part of the name differs from chunk to chunk, as these do. hms_slice has whole seconds. */
const lacks =
  (...parts: readonly string[]): Condition =>
  (name) =>
    !parts.some((part) => String(name).includes(part));
const isSame = lacks(`$\{chunk_id}`, '%{uuid_flush}', '%{hex_random}');
const isSeveral: Condition = (count) => Number(count) > 1;
const ACKS_0 = { required_acks: is(0) };
const WITHOUT_ID = {
  write_operation: (operation: unknown) => operation !== 'index',
  emit_error_for_missing_id: is(false),
};

/** How plugins may lose records without logging it. */
// biome-ignore format: a table
const SILENT_LOSSES: readonly Row[] = [
  ['Plugin::ForwardOutput', 'out_forward', SET_ACK, { require_ack_response: is(false, undefined) }],
  ['Plugin::TcpOutput', 'out_tcp', USE_FORWARD],
  ['Plugin::UnixOutput', 'out_unix', USE_FORWARD],
  ['Plugin::RewriteTagFilterOutput', 'rewrite_tag_filter', NO_RULE, { emit_mode: is('record', undefined) }],
  ['Plugin::RouteOutput', 'route', NO_ROUTE],
  ['Plugin::LabelRouterOutput', 'label_router', NO_DEFAULT, { default_route: is('', undefined) }],
  ['Plugin::CloudwatchLogsOutput', 'cloudwatch_logs', REJECTED, { log_rejected_request: is(false, undefined) }],
  ['Plugin::ElasticsearchOutput', 'elasticsearch', NO_ID, WITHOUT_ID],
  ['Plugin::ElasticsearchOutputDynamic', 'elasticsearch_dynamic', NO_ID, WITHOUT_ID],
  ['Plugin::OpenSearchOutput', 'opensearch', NO_ID, WITHOUT_ID],
  ['Plugin::OpenSearchOutput', 'opensearch', NO_EVENT, { emit_error_label_event: is(false) }],
  ['Plugin::OpenSearchOutputDataStream', 'opensearch_data_stream', NO_EVENT, { emit_error_label_event: is(false) }],
  ['Kafka2Output', 'kafka2', NO_ACKS, ACKS_0],
  ['Rdkafka2Output', 'rdkafka2', NO_ACKS, ACKS_0],
  ['KafkaOutputBuffered', 'kafka_buffered', NO_ACKS, ACKS_0],
  ['KafkaOutputBuffered2', 'rdkafka', NO_ACKS, ACKS_0],
  ['KafkaOutput', 'kafka', NO_ACKS, ACKS_0],
  ['Plugin::GelfOutput', 'gelf', NO_CONFIRMATION],
  ['GELFOutput', 'gelf', NO_CONFIRMATION],
  ['Plugin::RemoteSyslogOutput', 'remote_syslog', NO_CONFIRMATION],
  ['DatadogOutput', 'datadog', NO_HTTP, { use_http: is(false) }],
  ['SplunkHECOutput', 'splunk_hec', NO_STATUS, { use_ack: is(false) }],
  ['SplunkTCPOutput', 'splunk_tcp', NO_CONFIRMATION],
  // They look whether an object of that name is there. Two threads find none, and both write it.
  ['Plugin::S3Output', 's3', `${SAME_NAME} s3_object_key_format`, { s3_object_key_format: isSame, check_object: is(false) }],
  ['Plugin::S3Output', 's3', `${SAME_NAME} s3_object_key_format`, { s3_object_key_format: isSame, writers: isSeveral }],
  ['Plugin::GCSOutput', 'gcs', `${SAME_NAME} object_key_format`, { object_key_format: isSame, blind_write: is(true) }],
  ['Plugin::GCSOutput', 'gcs', `${SAME_NAME} object_key_format`, { object_key_format: isSame, writers: isSeveral }],
  ['Plugin::RedisOutput', 'redis', `${SAME_NAME} insert_key_prefix`, { insert_key_prefix: lacks(`$\{chunk_id}`), allow_duplicate_key: is(false) }],
];

/** What loses records, and why. */
export function silentLosses(plugins: readonly PluginSettings[]): readonly (readonly [string, string])[] {
  return SILENT_LOSSES.filter((row) => plugins.some((plugin) => fits(row, plugin))).map(([, about, why]) => [
    about,
    why,
  ]);
}

function fits([plugin, , , conditions = {}]: Row, { class: name, settings }: PluginSettings): boolean {
  const all = Object.entries(conditions);
  return name === `Fluent::${plugin}` && all.every(([setting, holds]) => holds(settings[setting]));
}

/** Plugins that keep no records outside of buffers, unless the witness counts them. */
const HOLD_NOTHING = new Set([
  // Filters, and outputs without a buffer: they pass a record on or drop it before the next one comes.
  ...inFluentPlugin(
    'GrepFilter ParserFilter RecordTransformerFilter StdoutFilter DedotFilter SystemdEntryFilter',
  ),
  ...inFluentPlugin('ElasticsearchGenidFilter GeoipFilter KubernetesMetadataFilter OpenSearchGenidFilter'),
  ...inFluentPlugin('PrometheusFilter RecordModifierFilter ThrottleFilter AnonymizerFilter'),
  ...inFluentPlugin('FlattenHashFilter SamplingFilter SuppressFilter'),
  ...inFluentPlugin('CopyOutput NullOutput PrometheusOutput RecordModifierOutput RelabelOutput'),
  ...inFluentPlugin('RewriteTagFilterOutput RoundRobinOutput StdoutOutput RouteOutput LabelRouterOutput'),
  ...inFluentPlugin('FlattenHashOutput HTTPOutput OutputFieldsParser RecordReformerOutput'),
  ...inFluentPlugin('SamplingFilterOutput SuppressOutput TagNormaliserOutput'),
  'Fluent::ForestOutput',
  ...['Fluent::AddInsertIdsFilter', 'Fluent::AnalyzeConfigFilter'],
  // The witness counts the records that these keep.
  ...inFluentPlugin('TailInput ConcatFilter'),
  'Fluent::DetectExceptionsOutput',
]);

function inFluentPlugin(names: string): readonly string[] {
  return names.split(' ').map((name) => `Fluent::Plugin::${name}`);
}

/** Outputs that hold records behind their buffer, too: a command reads them, and its answers are new records. */
const HOLD_BEHIND_BUFFER = new Set(inFluentPlugin('ExecFilterOutput'));

export function mayHold(name: string, { hasBuffer }: { hasBuffer: boolean }): boolean {
  return hasBuffer ? HOLD_BEHIND_BUFFER.has(name) : !HOLD_NOTHING.has(name);
}
