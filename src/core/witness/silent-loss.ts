import type { PluginSettings } from './answer.ts';

/** How a plugin may lose records without logging it. */
interface SilentLoss {
  /** Its name in fluent.conf. */
  readonly about: string;
  /** With the remedy. */
  readonly why: string;
  /** It happens only with this setting; undefined if always. */
  readonly if?: readonly [setting: string, value: boolean | number | string];
  /** Also if the plugin does not have the setting. */
  readonly orWithoutIt?: true;
}

const NO_CONFIRMATION = 'no destination confirms what it was sent';
const USE_FORWARD = `${NO_CONFIRMATION}: use forward with require_ack_response true`;
const NO_ACKS = 'no broker confirms what it was sent: set required_acks to -1 or 1';
const NO_EVENT = 'records that are refused vanish without a message: set emit_error_label_event true';

const ACKS: Pick<SilentLoss, 'if'> = { if: ['required_acks', 0] };
const REFUSED: Pick<SilentLoss, 'if'> = { if: ['emit_error_label_event', false] };

/** By the class of the plugin. */
const SILENT_LOSSES: Readonly<Record<string, SilentLoss>> = {
  'Fluent::Plugin::ForwardOutput': {
    about: 'out_forward',
    why: `${NO_CONFIRMATION}: set require_ack_response true`,
    if: ['require_ack_response', false],
    orWithoutIt: true,
  },
  'Fluent::Plugin::ExecFilterOutput': {
    about: 'out_exec_filter',
    why: 'its command may still hold lines, or lose them: nothing shows it',
  },
  'Fluent::Plugin::TcpOutput': { about: 'out_tcp', why: USE_FORWARD },
  'Fluent::Plugin::UnixOutput': { about: 'out_unix', why: USE_FORWARD },
  'Fluent::Plugin::RewriteTagFilterOutput': {
    about: 'rewrite_tag_filter',
    why: 'records that no rule fits, or without the key of a rule, vanish without a message',
  },
  'Fluent::Plugin::CloudwatchLogsOutput': {
    about: 'cloudwatch_logs',
    why: 'events that CloudWatch rejects vanish without a message: set log_rejected_request true',
    if: ['log_rejected_request', false],
    orWithoutIt: true,
  },
  'Fluent::Plugin::OpenSearchOutput': { about: 'opensearch', why: NO_EVENT, ...REFUSED },
  'Fluent::Plugin::OpenSearchOutputDataStream': {
    about: 'opensearch_data_stream',
    why: NO_EVENT,
    ...REFUSED,
  },
  'Fluent::Kafka2Output': { about: 'kafka2', why: NO_ACKS, ...ACKS },
  'Fluent::Rdkafka2Output': { about: 'rdkafka2', why: NO_ACKS, ...ACKS },
  'Fluent::KafkaOutputBuffered': { about: 'kafka_buffered', why: NO_ACKS, ...ACKS },
  'Fluent::KafkaOutputBuffered2': { about: 'rdkafka', why: NO_ACKS, ...ACKS },
  'Fluent::KafkaOutput': { about: 'kafka', why: NO_ACKS, ...ACKS },
  'Fluent::Plugin::GelfOutput': { about: 'gelf', why: NO_CONFIRMATION },
  'Fluent::GELFOutput': { about: 'gelf', why: NO_CONFIRMATION },
  'Fluent::Plugin::RemoteSyslogOutput': { about: 'remote_syslog', why: NO_CONFIRMATION },
  'Fluent::DatadogOutput': {
    about: 'datadog',
    why: 'without HTTP nothing confirms what was sent: set use_http true',
    if: ['use_http', false],
  },
};

export function silentLosses(plugins: readonly PluginSettings[]): readonly SilentLoss[] {
  return [...new Set(plugins.flatMap(lossOf))];
}

function lossOf({ class: name, settings }: PluginSettings): readonly SilentLoss[] {
  const loss = Object.hasOwn(SILENT_LOSSES, name) ? SILENT_LOSSES[name] : undefined;
  if (loss === undefined) return [];
  const [setting, value] = loss.if ?? [];
  const has = setting === undefined ? value : settings[setting];
  return has === value || (has === undefined && loss.orWithoutIt) ? [loss] : [];
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

export function mayHold(name: string): boolean {
  return !HOLD_NOTHING.has(name);
}
