import type { PluginSettings } from './answer.ts';

/** [the plugin's class, its name in fluent.conf, why with the remedy, only with this setting]. `undefined`: also without the setting. */
type Row = readonly [plugin: string, about: string, why: string, setting?: string, ...values: unknown[]];

const NO_CONFIRMATION = 'no destination confirms what it was sent';
const SET_ACK = `${NO_CONFIRMATION}: set require_ack_response true`;
const USE_FORWARD = `${NO_CONFIRMATION}: use forward with require_ack_response true`;
const NO_ACKS = 'no broker confirms what it was sent: set required_acks to -1 or 1';
const NO_EVENT = 'records that are refused vanish without a message: set emit_error_label_event true';
const NO_RULE = 'records that no rule fits vanish without a message: use 2.3 or later, with emit_mode batch';
const REJECTED = 'events that CloudWatch rejects vanish without a message: set log_rejected_request true';
const NO_HTTP = 'without HTTP nothing confirms what was sent: set use_http true';

/** How plugins may lose records without logging it. */
// biome-ignore format: a table
const SILENT_LOSSES: readonly Row[] = [
  ['Plugin::ForwardOutput', 'out_forward', SET_ACK, 'require_ack_response', false, undefined],
  ['Plugin::TcpOutput', 'out_tcp', USE_FORWARD],
  ['Plugin::UnixOutput', 'out_unix', USE_FORWARD],
  ['Plugin::RewriteTagFilterOutput', 'rewrite_tag_filter', NO_RULE, 'emit_mode', 'record', undefined],
  ['Plugin::CloudwatchLogsOutput', 'cloudwatch_logs', REJECTED, 'log_rejected_request', false, undefined],
  ['Plugin::OpenSearchOutput', 'opensearch', NO_EVENT, 'emit_error_label_event', false],
  ['Plugin::OpenSearchOutputDataStream', 'opensearch_data_stream', NO_EVENT, 'emit_error_label_event', false],
  ['Kafka2Output', 'kafka2', NO_ACKS, 'required_acks', 0],
  ['Rdkafka2Output', 'rdkafka2', NO_ACKS, 'required_acks', 0],
  ['KafkaOutputBuffered', 'kafka_buffered', NO_ACKS, 'required_acks', 0],
  ['KafkaOutputBuffered2', 'rdkafka', NO_ACKS, 'required_acks', 0],
  ['KafkaOutput', 'kafka', NO_ACKS, 'required_acks', 0],
  ['Plugin::GelfOutput', 'gelf', NO_CONFIRMATION],
  ['GELFOutput', 'gelf', NO_CONFIRMATION],
  ['Plugin::RemoteSyslogOutput', 'remote_syslog', NO_CONFIRMATION],
  ['DatadogOutput', 'datadog', NO_HTTP, 'use_http', false],
];

export function silentLosses(plugins: readonly PluginSettings[]): ReadonlyMap<string, string> {
  const losses = plugins.flatMap(({ class: name, settings }) =>
    SILENT_LOSSES.filter(
      ([plugin, , , setting, ...values]) =>
        name === `Fluent::${plugin}` && (setting === undefined || values.includes(settings[setting])),
    ),
  );
  return new Map(losses.map(([, about, why]) => [about, why]));
}

/** Plugins that keep no records outside of buffers, unless the witness counts them. */
const HOLD_NOTHING = new Set([
  // Filters, and outputs without a buffer: they pass a record on or drop it before the next one comes.
  ...inFluentPlugin(
    'GrepFilter ParserFilter RecordTransformerFilter StdoutFilter DedotFilter SystemdEntryFilter',
  ),
  ...inFluentPlugin('ElasticsearchGenidFilter GeoipFilter KubernetesMetadataFilter OpenSearchGenidFilter'),
  ...inFluentPlugin('PrometheusFilter RecordModifierFilter ThrottleFilter'),
  ...inFluentPlugin('CopyOutput NullOutput PrometheusOutput RecordModifierOutput RelabelOutput'),
  ...inFluentPlugin('RewriteTagFilterOutput RoundRobinOutput StdoutOutput'),
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
