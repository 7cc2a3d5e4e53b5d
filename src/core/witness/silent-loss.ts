import type { PluginSettings } from './messages.ts';

/** A plugin that loses records, or cannot know that it does, and logs nothing. */
interface SilentLoss {
  readonly class: string;
  /** The setting that makes it so; undefined: it always is. */
  readonly setting?: string;
  readonly value?: boolean | number | string;
  /** A plugin without the setting is one that has it so. */
  readonly orWithoutIt?: true;
  /** For people, with the remedy. */
  readonly says: string;
}

const ACK = 'no destination confirms what it was sent: set require_ack_response true';
const ACKS = 'no broker confirms what it was sent: set required_acks to -1 or 1';
const UDP = 'nothing confirms a UDP packet: set protocol tcp';
const REFUSED = 'records that are refused vanish without a message: set emit_error_label_event true';

const SILENT_LOSSES: readonly SilentLoss[] = [
  {
    class: 'Fluent::Plugin::ForwardOutput',
    setting: 'require_ack_response',
    value: false,
    orWithoutIt: true,
    says: `out_forward: ${ACK}`,
  },
  {
    class: 'Fluent::Plugin::ParserFilter',
    setting: 'emit_invalid_record_to_error',
    value: false,
    says: 'filter parser: records that it cannot parse vanish without a message: set emit_invalid_record_to_error true',
  },
  {
    class: 'Fluent::Plugin::ExecFilterOutput',
    says: 'out_exec_filter: its command may still hold lines, or lose them: nothing shows it',
  },
  {
    class: 'Fluent::Plugin::TcpOutput',
    says: 'out_tcp: no destination confirms what it was sent: use forward with require_ack_response true',
  },
  {
    class: 'Fluent::Plugin::UnixOutput',
    says: 'out_unix: no destination confirms what it was sent: use forward with require_ack_response true',
  },
  {
    class: 'Fluent::Plugin::RewriteTagFilterOutput',
    says: 'rewrite_tag_filter: records that no rule fits, or without the key of a rule, vanish without a message',
  },
  {
    class: 'Fluent::Plugin::CloudwatchLogsOutput',
    setting: 'log_rejected_request',
    value: false,
    orWithoutIt: true,
    says: 'cloudwatch_logs: events that CloudWatch rejects vanish without a message: set log_rejected_request true',
  },
  {
    class: 'Fluent::Plugin::OpenSearchOutput',
    setting: 'emit_error_label_event',
    value: false,
    says: `opensearch: ${REFUSED}`,
  },
  {
    class: 'Fluent::Plugin::OpenSearchOutputDataStream',
    setting: 'emit_error_label_event',
    value: false,
    says: `opensearch_data_stream: ${REFUSED}`,
  },
  { class: 'Fluent::Kafka2Output', setting: 'required_acks', value: 0, says: `kafka2: ${ACKS}` },
  { class: 'Fluent::Rdkafka2Output', setting: 'required_acks', value: 0, says: `rdkafka2: ${ACKS}` },
  {
    class: 'Fluent::KafkaOutputBuffered',
    setting: 'required_acks',
    value: 0,
    says: `kafka_buffered: ${ACKS}`,
  },
  { class: 'Fluent::KafkaOutputBuffered2', setting: 'required_acks', value: 0, says: `rdkafka: ${ACKS}` },
  { class: 'Fluent::KafkaOutput', setting: 'required_acks', value: 0, says: `kafka: ${ACKS}` },
  {
    class: 'Fluent::Plugin::GelfOutput',
    setting: 'protocol',
    value: 'udp',
    orWithoutIt: true,
    says: `gelf: ${UDP}`,
  },
  {
    class: 'Fluent::GELFOutput',
    setting: 'protocol',
    value: 'udp',
    orWithoutIt: true,
    says: `gelf: ${UDP}`,
  },
  {
    class: 'Fluent::Plugin::RemoteSyslogOutput',
    setting: 'protocol',
    value: 'udp',
    orWithoutIt: true,
    says: `remote_syslog: ${UDP}`,
  },
  {
    class: 'Fluent::DatadogOutput',
    setting: 'use_http',
    value: false,
    says: 'datadog: without HTTP nothing confirms what was sent: set use_http true',
  },
];

/** Why records may vanish without any message, a sentence each. */
export function silentLosses(plugins: readonly PluginSettings[]): readonly string[] {
  const found = SILENT_LOSSES.filter((loss) => plugins.some((plugin) => isSo(loss, plugin)));
  return found.map(({ says }) => says);
}

function isSo({ class: name, setting, value, orWithoutIt }: SilentLoss, plugin: PluginSettings): boolean {
  if (plugin.class !== name) return false;
  if (setting === undefined) return true;
  const has = plugin.settings[setting];
  return has === undefined ? orWithoutIt === true : has === value;
}

/** Filters, and outputs without a buffer, that keep no record: it goes on, or is dropped, before the next one comes. */
const HOLDS_NOTHING = new Set([
  'Fluent::Plugin::GrepFilter',
  'Fluent::Plugin::ParserFilter',
  'Fluent::Plugin::RecordTransformerFilter',
  'Fluent::Plugin::StdoutFilter',
  'Fluent::AddInsertIdsFilter',
  'Fluent::AnalyzeConfigFilter',
  'Fluent::Plugin::DedotFilter',
  'Fluent::Plugin::SystemdEntryFilter',
  'Fluent::Plugin::ElasticsearchGenidFilter',
  'Fluent::Plugin::GeoipFilter',
  'Fluent::Plugin::KubernetesMetadataFilter',
  'Fluent::Plugin::OpenSearchGenidFilter',
  'Fluent::Plugin::PrometheusFilter',
  'Fluent::Plugin::RecordModifierFilter',
  'Fluent::Plugin::ThrottleFilter',
  'Fluent::Plugin::CopyOutput',
  'Fluent::Plugin::NullOutput',
  'Fluent::Plugin::PrometheusOutput',
  'Fluent::Plugin::RecordModifierOutput',
  'Fluent::Plugin::RelabelOutput',
  'Fluent::Plugin::RewriteTagFilterOutput',
  'Fluent::Plugin::RoundRobinOutput',
  'Fluent::Plugin::SecondaryFileOutput',
  'Fluent::Plugin::StdoutOutput',
]);
/** As a <secondary> they have no buffer of their own, and write each chunk at once. */
const SECONDARIES = new Set([
  'Fluent::Plugin::ElasticsearchOutput',
  'Fluent::Plugin::FileOutput',
  'Fluent::Plugin::HTTPOutput',
  'Fluent::Plugin::S3Output',
]);
/** They keep records, and the witness counts them. */
const SEEN = new Set(['Fluent::Plugin::ConcatFilter', 'Fluent::DetectExceptionsOutput']);

/** Whether a filter, or an output without a buffer, may keep records where nobody sees them. */
export function mayHold(name: string): boolean {
  return ![HOLDS_NOTHING, SECONDARIES, SEEN].some((known) => known.has(name));
}
