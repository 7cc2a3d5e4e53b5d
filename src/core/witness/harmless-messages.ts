import type { Message, PluginSettings } from './answer.ts';

/** [files, the beginnings of texts, only if]. A file that does not end in `.rb` is the beginning of a name. */
type Row = readonly [files: string, texts: RegExp, onlyIf?: Condition];

/** `about`: all plugins. `error`: the class of the error that was told, or nothing. */
type Condition = (about: readonly PluginSettings[], error: string) => boolean;

const ANY = /^/;
const unmatched: Condition = (about) => allHave(about, 'TailInput', 'emit_unmatched_lines', true);
/** No plugin keeps records, so that they come out with a later batch: a multiline source, or a filter. */
const keepsNone: Condition = (about) =>
  allHave(about, 'TailInput', 'multiline_mode', false) &&
  !about.some((plugin) => /:(ConcatFilter|DetectExceptionsOutput)$/.test(plugin.class));
const reserved =
  (raised: RegExp): Condition =>
  (about, error) =>
    raised.test(error) && allHave(about, 'ParserFilter', 'reserve_data', true);
const ERROR_EVENT = '^(dump an error event|send an error event to @ERROR): ';

/**
 * The messages after which no record is missing, or of which the witness counts the records (from the sources of Fluentd 1.14 to 1.20, and
 * of the newest plugins). The witness normalizes a text: a quoted part becomes `'…'` or `"…"`; a path or URL becomes `…` from its first `/`
 * on; a number, or a run of eight or more hex digits, becomes `#`. It passes over what is logged while a plugin is configured, and a text in
 * a block is empty.
 */
// biome-ignore format: a table
const HARMLESS: readonly Row[] = [
  // Counted.
  ['fluent/match.rb', /^no patterns matched/],
  ['fluent/root_agent.rb', /^(emit transaction failed|send an error event stream to @ERROR)/],
  ['fluent/plugin/output.rb', /^(Hit limit for retries|dropping oldest chunk|retry succeeded by secondary)/],
  ['fluent/plugin/output.rb', /^got (unrecoverable error in|an error in secondary)/],
  ['fluent/plugin/output.rb fluent/plugin/buffer.rb', /^(disable_chunk_backup is true|bad chunk is moved to)/],
  ['fluent/plugin/buf_', /^(chunk files are evacuated|$)/], // '' restores a buffer
  // A filter that raises loses its record. The parser filter may let it pass.
  ['fluent/root_agent.rb', RegExp(`${ERROR_EVENT}pattern not matched with data`), reserved(/\bParserError$/)],
  ['fluent/root_agent.rb', RegExp(`${ERROR_EVENT}.* does not exist`), reserved(/\bArgumentError$/)],
  // in_tail brings a batch again that a full buffer refused, but not what a plugin had kept of an earlier one and gave on with it.
  ['posidle', /^a full buffer refused a batch/, keepsNone], // a text of the witness
  // in_tail. The witness sees which files it passes over.
  ['fluent/plugin/in_tail', /^(pattern not matched|got incomplete line (at shutdown|before first line))/, unmatched],
  ['fluent/plugin/in_tail', /^(pattern not matched: |got incomplete line at shutdown from … )""/], // an empty line
  ['fluent/plugin/in_tail', /^(… unreadable|Permission denied|Unparsable line in pos_file|….* already exists. use latest one)/],
  ['fluent/plugin/in_tail', /^(expand_paths: stat|stat\(\) for|Could not follow a file|Skip |detach_watcher could be|Too many )/],
  ['fluent/plugin/in_tail', /^(Cannot find group from metadata|(in_tail )?worker parsing (failed|is unavailable))/], // the position stays
  // The chunk, or the position, stays where it is.
  ['fluent/plugin/output.rb', /^(failed to flush the buffer|retry succeeded\.|buffer flush took longer|thread is already dead)/],
  ['fluent/plugin/output.rb', /^(tag placeholder|chunk key placeholder|.*chunk_id} is not allowed|breaking block behavior)/],
  ['fluent/plugin/output.rb', /^(no queued chunks to be dropped|failed to write data into buffer by buffer overflow)/],
  ['fluent/plugin/output.rb', /^unexpected error while checking flushed chunks/],
  ['fluent/root_agent.rb', /^unexpected error while flushing buffer/],
  ['fluent/plugin/buffer.rb', /^(chunk (bytes|size) limit exceeds|failed to purge buffer chunk)/],
  ['fluent/plugin/out_forward fluent/plugin/out_exec.rb', ANY],
  // The record goes on.
  ['fluent/plugin/filter_grep.rb', /^failed to grep events/],
  ['fluent/plugin/filter_record_transformer.rb', /^unknown placeholder/],
  ['fluent/plugin/parser.rb', /^parsing timed out/], // then the line does not match
  // Of no record.
  ['fluent/engine.rb', /^(parameter '|section <|Deprecated method|unexpected error)/], // its end is told
  ['fluent/supervisor.rb', ANY], // a failed start, reload or flush: the end of a worker or a buffer is told
  ['fluent/source_only_buffer_agent.rb', /^failed to remove the buffer directory/],
  ['fluent/plugin_helper/thread.rb', /^(thread doesn't exit correctly|killing existing thread)/],
  ['fluent/plugin_helper/child_process.rb', /^(previous child process is still running|child process timed out)/], // its output reports it
  ['fluent/config fluent/system_config.rb fluent/log/ fluent/fluent_log_event_router.rb fluent/msgpack_factory.rb', ANY],
  ['fluent/rpc.rb fluent/counter/ fluent/compat/ fluent/plugin/sd_ fluent/plugin/storage_local.rb', ANY],
  ['fluent/plugin/out_file.rb fluent/plugin/out_stream.rb', ANY], // deprecations and symlinks only
  ['fluent/plugin_helper/socket fluent/plugin_helper/service_discovery fluent/plugin_helper/storage.rb', ANY],
  ['fluent/plugin_helper/server.rb fluent/plugin_helper/http_server fluent/plugin_helper/cert_option.rb', ANY], // of inputs
  ['fluent/plugin_helper/event_loop.rb fluent/plugin_helper/inject.rb fluent/plugin_helper/formatter.rb', ANY], // at start and stop
  ['fluent/plugin_helper/parser.rb fluent/plugin_helper/metrics.rb', ANY], // at start and stop
  // elasticsearch 6.0.0, opensearch 1.1.8, kafka 0.19.9 with ruby-kafka 1.5.0, which may put tags before a text
  ['fluent/plugin/out_elasticsearch fluent/plugin/out_opensearch', /^(Detected |Failed to get new AWS credentials)/],
  ['fluent/plugin/elasticsearch_ fluent/plugin/opensearch_', /^(Could not communicate to|Remaining retry|Error while index creation)/],
  ['fluent/plugin/out_kafka', /^('…' topic not found. Retry|failed to shut down the discarded producer|No brokers found on Zoo)/],
  ['fluent/plugin/out_rdkafka', /^Failed to enqueue message; attempting retry/],
  ['fluent/plugin/kafka_producer_ext.rb', /^Failed to /],
  ['kafka/', /^(\[.*\] )?(Failed to|Timed out while|No brokers in|Leader |Topic `|Could not connect|Corrupt message when|Not enough in-)/],
  ['kafka/', /^(\[.*\] )?(Unknown topic|Broker .* not currently|Messages written|Received out-of-order|Connection has been unused)/],
  // kinesis 3.7.0, datadog 0.15.1, s3 1.8.6, gcs 0.4.5, cloudwatch-logs 0.15.0, google-cloud 0.13.3, sumologic_output 1.10.0
  ['fluent/plugin/out_datadog.rb fluent/plugin/kinesis_helper/api.rb', /^Retrying/],
  ['fluent/plugin/out_s3.rb', /^(out_s#: delayed events were put to|'…' parameter is deprecated)/],
  ['fluent/plugin/s3_compressor_ fluent/plugin/gcs/', /^failed to execute gzip command\. Fallback/],
  ['fluent/plugin/out_cloudwatch_logs.rb', /^(failed to PutLogEvents$|updating upload sequence|Creating log stream because|retry succ|failed to set ret)/],
  ['fluent/plugin/out_google_cloud.rb', /^(Failed to |Invalid value of|Unknown type:|timeNanos is|construct_error_details)/],
  ['fluent/plugin/common.rb fluent/plugin/monitoring.rb', /^Failed to /], // google-cloud's metadata and metrics
  ['fluent/plugin/out_sumologic.rb', /^error while sending request to sumo/],
  // Filters: kubernetes_metadata_filter 3.8.1, rewrite-tag-filter 2.4.1, geoip 1.3.2, google-cloud 0.13.3, prometheus 2.3.0
  ['fluent/plugin/filter_kubernetes_metadata.rb fluent/plugin/kubernetes_metadata_', /^(Exception |parsing )/],
  ['fluent/plugin/out_rewrite_tag_filter.rb', /^rewrite_tag_filter: unknown placeholder/],
  ['fluent/plugin/filter_geoip.rb', /is empty string$/],
  ['fluent/plugin/filter_analyze_config.rb fluent/plugin/prometheus', ANY],
];

/** Inputs other than in_tail. They read no log file. */
const OTHER_INPUT = /^fluent\/plugin\/in_(?!tail(?:\.rb|\/))/;

/** Whether no record is lost with a message, or the witness counts it. Any message that is not known to be harmless is a doubt. */
export function isHarmless({ file, text, error }: Message, about: readonly PluginSettings[]): boolean {
  const isIn = (name: string) => file === name || (!name.endsWith('.rb') && file.startsWith(name));
  const isKnown = HARMLESS.some(
    ([files, texts, onlyIf = () => true]) =>
      texts.test(text) && files.split(' ').some(isIn) && onlyIf(about, error ?? ''),
  );
  return isKnown || OTHER_INPUT.test(file);
}

/** There is a plugin of this class, and all of them have this setting. */
function allHave(about: readonly PluginSettings[], name: string, setting: string, value: boolean): boolean {
  const meant = about.filter((plugin) => plugin.class === `Fluent::Plugin::${name}`);
  return meant.length > 0 && meant.every(({ settings }) => (settings[setting] ?? false) === value);
}
