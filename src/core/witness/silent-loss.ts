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

const PLUGIN = 'Fluent::Plugin';
const NO_CONFIRMATION = 'no destination confirms what it was sent';
const USE_FORWARD = `${NO_CONFIRMATION}: use forward with require_ack_response true`;

/** The brokers, the packets and the refused records of which nobody hears. */
const ACKS = { setting: 'required_acks', value: 0 };
const NO_ACKS = 'no broker confirms what it was sent: set required_acks to -1 or 1';
const UDP = { setting: 'protocol', value: 'udp', orWithoutIt: true } as const;
const NO_TCP = 'nothing confirms a UDP packet: set protocol tcp';
const REFUSED = { setting: 'emit_error_label_event', value: false };
const NO_EVENT = 'records that are refused vanish without a message: set emit_error_label_event true';

const SILENT_LOSSES: readonly SilentLoss[] = [
  {
    class: `${PLUGIN}::ForwardOutput`,
    setting: 'require_ack_response',
    value: false,
    orWithoutIt: true,
    says: `out_forward: ${NO_CONFIRMATION}: set require_ack_response true`,
  },
  {
    class: `${PLUGIN}::ExecFilterOutput`,
    says: 'out_exec_filter: its command may still hold lines, or lose them: nothing shows it',
  },
  { class: `${PLUGIN}::TcpOutput`, says: `out_tcp: ${USE_FORWARD}` },
  { class: `${PLUGIN}::UnixOutput`, says: `out_unix: ${USE_FORWARD}` },
  {
    class: `${PLUGIN}::RewriteTagFilterOutput`,
    says: 'rewrite_tag_filter: records that no rule fits, or without the key of a rule, vanish without a message',
  },
  {
    class: `${PLUGIN}::CloudwatchLogsOutput`,
    setting: 'log_rejected_request',
    value: false,
    orWithoutIt: true,
    says: 'cloudwatch_logs: events that CloudWatch rejects vanish without a message: set log_rejected_request true',
  },
  { class: `${PLUGIN}::OpenSearchOutput`, ...REFUSED, says: `opensearch: ${NO_EVENT}` },
  { class: `${PLUGIN}::OpenSearchOutputDataStream`, ...REFUSED, says: `opensearch_data_stream: ${NO_EVENT}` },
  { class: 'Fluent::Kafka2Output', ...ACKS, says: `kafka2: ${NO_ACKS}` },
  { class: 'Fluent::Rdkafka2Output', ...ACKS, says: `rdkafka2: ${NO_ACKS}` },
  { class: 'Fluent::KafkaOutputBuffered', ...ACKS, says: `kafka_buffered: ${NO_ACKS}` },
  { class: 'Fluent::KafkaOutputBuffered2', ...ACKS, says: `rdkafka: ${NO_ACKS}` },
  { class: 'Fluent::KafkaOutput', ...ACKS, says: `kafka: ${NO_ACKS}` },
  { class: `${PLUGIN}::GelfOutput`, ...UDP, says: `gelf: ${NO_TCP}` },
  { class: 'Fluent::GELFOutput', ...UDP, says: `gelf: ${NO_TCP}` },
  { class: `${PLUGIN}::RemoteSyslogOutput`, ...UDP, says: `remote_syslog: ${NO_TCP}` },
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
const SEEN = new Set([
  'Fluent::Plugin::TailInput',
  'Fluent::Plugin::ConcatFilter',
  'Fluent::DetectExceptionsOutput',
]);

/** Whether a filter, or an output without a buffer, may keep records where nobody sees them. */
export function mayHold(name: string): boolean {
  return ![HOLDS_NOTHING, SECONDARIES, SEEN].some((known) => known.has(name));
}
