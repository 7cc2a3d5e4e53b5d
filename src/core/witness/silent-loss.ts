import type { OutputReport, PluginSettings } from './answer.ts';

type Settings = PluginSettings['settings'];
/** [the plugin's class, its name in fluent.conf, why with the remedy, only with these settings]. */
type Row = readonly [plugin: string, about: string, why: string, loses?: (settings: Settings) => boolean];

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
const NOT_TAKEN = 'messages that SQS does not take vanish without a message: use another output';
const NO_HTTP = 'without HTTP nothing confirms what was sent: set use_http true';
const NO_STATUS = "Splunk's errors vanish without a message: set use_ack true";
const SAME_NAME = `chunks of one time may overwrite each other: put $\{chunk_id} into`;

/** No part of the name differs from chunk to chunk, as these do. hms_slice has whole seconds. */
function lacks(name: unknown, ...parts: readonly string[]): boolean {
  return !parts.some((part) => String(name).includes(part));
}

/** They look whether an object of that name is there. Two threads find none, and both write it. */
function overwrites(name: unknown, looks: boolean, writers: unknown): boolean {
  return lacks(name, `$\{chunk_id}`, '%{uuid_flush}', '%{hex_random}') && (!looks || Number(writers) > 1);
}

function lacksIds({ write_operation, emit_error_for_missing_id }: Settings): boolean {
  return write_operation !== 'index' && emit_error_for_missing_id === false;
}

const isOneKey = ({ allow_duplicate_key, insert_key_prefix }: Settings) =>
  allow_duplicate_key === false && lacks(insert_key_prefix, `$\{chunk_id}`);
const asksNobody = ({ required_acks }: Settings) => required_acks === 0;
const isSilent = ({ emit_error_label_event }: Settings) => emit_error_label_event === false;

/** How plugins may lose records without logging it. */
// biome-ignore format: a table
const SILENT_LOSSES: readonly Row[] = [
  ['Plugin::ForwardOutput', 'out_forward', SET_ACK, ({ require_ack_response }) => !require_ack_response],
  ['Plugin::TcpOutput', 'out_tcp', USE_FORWARD],
  ['Plugin::UnixOutput', 'out_unix', USE_FORWARD],
  ['Plugin::RewriteTagFilterOutput', 'rewrite_tag_filter', NO_RULE, ({ emit_mode = 'record' }) => emit_mode === 'record'],
  ['Plugin::RouteOutput', 'route', NO_ROUTE],
  ['Plugin::LabelRouterOutput', 'label_router', NO_DEFAULT, ({ default_route }) => !default_route],
  ['Plugin::CloudwatchLogsOutput', 'cloudwatch_logs', REJECTED, ({ log_rejected_request }) => !log_rejected_request],
  ['Plugin::ElasticsearchOutput', 'elasticsearch', NO_ID, lacksIds],
  ['Plugin::ElasticsearchOutputDynamic', 'elasticsearch_dynamic', NO_ID, lacksIds],
  ['Plugin::OpenSearchOutput', 'opensearch', NO_ID, lacksIds],
  ['Plugin::OpenSearchOutput', 'opensearch', NO_EVENT, isSilent],
  ['Plugin::OpenSearchOutputDataStream', 'opensearch_data_stream', NO_EVENT, isSilent],
  ['Kafka2Output', 'kafka2', NO_ACKS, asksNobody],
  ['Rdkafka2Output', 'rdkafka2', NO_ACKS, asksNobody],
  ['KafkaOutputBuffered', 'kafka_buffered', NO_ACKS, asksNobody],
  ['KafkaOutputBuffered2', 'rdkafka', NO_ACKS, asksNobody],
  ['KafkaOutput', 'kafka', NO_ACKS, asksNobody],
  ['Plugin::GelfOutput', 'gelf', NO_CONFIRMATION],
  ['GELFOutput', 'gelf', NO_CONFIRMATION],
  ['Plugin::RemoteSyslogOutput', 'remote_syslog', NO_CONFIRMATION],
  ['Plugin::OutSyslogRFC5424', 'syslog_rfc5424', NO_CONFIRMATION],
  ['Papertrail', 'papertrail', NO_CONFIRMATION],
  ['LogentriesOutput', 'logentries', NO_CONFIRMATION],
  ['Plugin::SQSOutput', 'sqs', NOT_TAKEN],
  ['DatadogOutput', 'datadog', NO_HTTP, ({ use_http }) => use_http === false],
  ['SplunkHECOutput', 'splunk_hec', NO_STATUS, ({ use_ack }) => use_ack === false],
  ['SplunkTCPOutput', 'splunk_tcp', NO_CONFIRMATION],
  ['Plugin::S3Output', 's3', `${SAME_NAME} s3_object_key_format`, (s) => overwrites(s.s3_object_key_format, s.check_object !== false, s.writers)],
  ['Plugin::GCSOutput', 'gcs', `${SAME_NAME} object_key_format`, (s) => overwrites(s.object_key_format, s.blind_write !== true, s.writers)],
  ['Plugin::RedisOutput', 'redis', `${SAME_NAME} insert_key_prefix`, isOneKey],
];

/** What loses records, and why. */
export function silentLosses(plugins: readonly PluginSettings[]): readonly (readonly [string, string])[] {
  const lost = SILENT_LOSSES.filter(([name, , , loses = () => true]) =>
    plugins.some((plugin) => plugin.class === `Fluent::${name}` && loses(plugin.settings)),
  );
  return lost.map(([, about, why]) => [about, why]);
}

/** Plugins that keep no records outside of buffers, unless the witness counts them. */
const HOLD_NOTHING = new Set([
  // Filters, and outputs without a buffer: they pass a record on or drop it before the next one comes.
  ...inFluentPlugin(
    'GrepFilter ParserFilter RecordTransformerFilter StdoutFilter DedotFilter SystemdEntryFilter',
  ),
  ...inFluentPlugin('ElasticsearchGenidFilter GeoipFilter KubernetesMetadataFilter OpenSearchGenidFilter'),
  ...inFluentPlugin('PrometheusFilter RecordModifierFilter ThrottleFilter AnonymizerFilter'),
  ...inFluentPlugin('FlattenHashFilter SamplingFilter SuppressFilter URIParserFilter UaParserFilter'),
  // The last is the filter kubernetes_sumologic.
  ...['Fluent::ViaqDataModelFilter', 'Fluent::Plugin::SumoContainerOutput'],
  ...inFluentPlugin('CopyOutput NullOutput PrometheusOutput RecordModifierOutput RelabelOutput'),
  ...inFluentPlugin('RewriteTagFilterOutput RoundRobinOutput StdoutOutput RouteOutput LabelRouterOutput'),
  ...inFluentPlugin('FlattenHashOutput FlowCounterOutput HTTPOutput OutputFieldsParser RecordReformerOutput'),
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

export function mayHold({ class: name, ...plugin }: PluginSettings | OutputReport): boolean {
  const hasBuffer = 'buffer' in plugin && plugin.buffer !== 'none';
  return hasBuffer ? HOLD_BEHIND_BUFFER.has(name) : !HOLD_NOTHING.has(name);
}
