import type { MessageRow } from './message-row.ts';

const ELASTICSEARCH = 'fluent/plugin/out_elasticsearch';
const OPENSEARCH = 'fluent/plugin/out_opensearch';
const CLOUDWATCH = 'fluent/plugin/out_cloudwatch_logs.rb';
const GOOGLE = 'fluent/plugin/out_google_cloud.rb';
const SPLUNK = 'fluent/plugin/out_splunk';
const KAFKA = 'fluent/plugin/out_kafka';
const RDKAFKA = 'fluent/plugin/out_rdkafka';
const RUBY_KAFKA = 'kafka/';
const SUMOLOGIC = 'fluent/plugin/out_sumologic.rb';
const LOGZIO = 'fluent/plugin/out_logzio_buffered.rb';
const KUBERNETES = 'fluent/plugin/filter_kubernetes_metadata.rb';

/** Read in the plugins' sources; the version that was read stands above its rows. */
export const PLUGIN_MESSAGES: readonly MessageRow[] = [
  // elasticsearch 6.0.0, opensearch 1.1.8: a record that is refused for good is an error event.
  ...[ELASTICSEARCH, OPENSEARCH].flatMap((file): readonly MessageRow[] => [
    { file, begins: 'Could not bulk insert to Data Stream', is: 'loss' },
    { file, begins: 'Exception ignored in tag', is: 'loss' },
    { file, begins: 'Consider to specify log_level', is: 'harmless' },
    { file, begins: 'Detected ', is: 'harmless' },
    { file, begins: 'TLS handshake will be stucked', is: 'harmless' },
    { file, begins: 'Cannot find class', is: 'harmless' },
    { file, begins: '* can not dig version information', is: 'harmless' },
  ]),
  { file: ELASTICSEARCH, begins: 'Could not push log to Elasticsearch', is: 'loss' },
  { file: ELASTICSEARCH, begins: 'Elasticsearch dynamic plugin will be deprecated', is: 'harmless' },
  { file: OPENSEARCH, begins: 'Failed to get new AWS credentials', is: 'harmless' },
  { file: OPENSEARCH, begins: "'*' uses a placeholder", is: 'harmless' },
  { file: OPENSEARCH, begins: "'*' has a user and password", is: 'harmless' },
  ...['fluent/plugin/elasticsearch_', 'fluent/plugin/opensearch_'].flatMap((file): readonly MessageRow[] => [
    { file, begins: 'Could not communicate to', is: 'retry' },
    { file, begins: 'Remaining retry', is: 'retry' },
    { file, begins: 'Error while index creation', is: 'harmless', why: 'no record' },
    { file, begins: "'*' does not have any effect", is: 'harmless' },
  ]),

  // kafka 0.19.9, and ruby-kafka 1.5.0 (logs to Fluentd only with get_kafka_client_log)
  ...[KAFKA, RDKAFKA].flatMap((file): readonly MessageRow[] => [
    { file, begins: 'record size exceeds max_send_limit_bytes. Skip', is: 'loss' },
    { file, begins: 'unexpected error during format record. Skip', is: 'loss' },
    { file, begins: 'Send exception occurred', is: 'retry' },
    { file, begins: 'Exception Backtrace', is: 'retry' },
  ]),
  { file: KAFKA, begins: 'DeliveryFailed occurred. Discard', is: 'loss' },
  { file: KAFKA, begins: 'Exception ignored in tag', is: 'loss' },
  { file: KAFKA, begins: 'BufferOverflow occurred', is: 'loss' },
  { file: KAFKA, begins: "'*' topic not found. Retry with", is: 'retry' },
  { file: KAFKA, begins: 'No brokers found on Zookeeper', is: 'harmless', why: 'at the start' },
  { file: KAFKA, begins: 'failed to shut down the discarded producer', is: 'harmless' },
  { file: KAFKA, begins: "'*' option discards events", is: 'harmless' },
  { file: KAFKA, begins: 'If this is unexpected, you need to check', is: 'harmless' },
  { file: KAFKA, begins: "'*' parameter is deprecated", is: 'harmless' },
  { file: KAFKA, begins: 'Support of fluentd', is: 'harmless' },
  { file: KAFKA, begins: "Use '*' field", is: 'harmless' },
  { file: KAFKA, begins: 'default_topic is set', is: 'harmless' },
  { file: KAFKA, begins: 'share_producer sends one chunk', is: 'harmless' },
  { file: RDKAFKA, begins: 'Delivery failed', is: 'loss' },
  { file: RDKAFKA, begins: 'Queue is forcefully closed', is: 'loss' },
  { file: RDKAFKA, begins: 'Failed to enqueue message; attempting retry', is: 'retry' },
  { file: RDKAFKA, begins: "Use '*' field", is: 'harmless' },
  { file: RDKAFKA, begins: 'default_topic is set', is: 'harmless' },
  { file: 'fluent/plugin/kafka_plugin_util.rb', begins: 'scram_mechanism is ignored', is: 'harmless' },
  { file: 'fluent/plugin/kafka_producer_ext.rb', begins: 'Failed to', is: 'retry' },
  ...['', '[*] '].flatMap((tags): readonly MessageRow[] => [
    { file: RUBY_KAFKA, begins: `${tags}Failed to`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Timed out while`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}No brokers in cluster`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Leader `, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Topic \`*\` not yet created`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Could not connect to`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Corrupt message when writing`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Unknown topic or partition`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Broker * not currently leader`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Not enough in-sync replicas`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Messages written, but to fewer`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Received out-of-order response`, is: 'retry' },
    { file: RUBY_KAFKA, begins: `${tags}Connection has been unused`, is: 'harmless' },
  ]),

  // splunk-hec 1.3.3: with consume_chunk_on_4xx_errors, its default, any 4xx discards the chunk, 429 as well.
  { file: SPLUNK, begins: 'Failed POST to', is: 'loss' },
  { file: SPLUNK, begins: '*: Failed POST to', is: 'loss' },
  {
    file: SPLUNK,
    begins: '',
    is: 'loss',
    why: 'logged by a block: a blank event, a refused or badly encoded one',
  },
  { file: SPLUNK, begins: '*: POST Body', is: 'loss' },
  { file: SPLUNK, begins: 'expected field', is: 'harmless' },

  // grafana-loki 1.3.0: a raise follows after 429 and 5xx, and after no other answer. loki 0.3.0
  { file: 'fluent/plugin/out_loki.rb', begins: 'failed to write post to', is: 'loss', retriedInFlush: true },
  { file: 'fluent/plugin/out_loki.rb', begins: 'client certificate file contains', is: 'harmless' },
  { file: 'fluent/plugin/out_loki.rb', begins: 'Net::HTTP.* raises exception', is: 'loss' },
  { file: 'fluent/plugin/out_loki.rb', begins: 'failed to ', is: 'loss' },

  // datadog 0.15.1
  { file: 'fluent/plugin/out_datadog.rb', begins: 'Unable to send payload due to client error', is: 'loss' },
  { file: 'fluent/plugin/out_datadog.rb', begins: 'Retrying', is: 'retry' },
  { file: 'fluent/plugin/out_datadog.rb', begins: 'Processing exception in datadog', is: 'retry' },

  // s3 1.8.6, gcs 0.4.5
  {
    file: 'fluent/plugin/out_s3.rb',
    begins: '* already exists, but will overwrite',
    is: 'loss',
    why: 'of earlier lines',
  },
  { file: 'fluent/plugin/out_s3.rb', begins: 'out_s#: delayed events were put to', is: 'harmless' },
  { file: 'fluent/plugin/out_s3.rb', begins: "'*' not supported. Use '*'", is: 'harmless' },
  { file: 'fluent/plugin/out_s3.rb', begins: 'reduced_redundancy parameter is deprecated', is: 'harmless' },
  { file: 'fluent/plugin/out_s3.rb', begins: "Set '*' and s#_object_key_format", is: 'harmless' },
  { file: 'fluent/plugin/out_s3.rb', begins: '%{hostname} will be removed', is: 'harmless' },
  { file: 'fluent/plugin/out_s3.rb', begins: 'The default value of s#_object_key_format', is: 'harmless' },
  { file: 'fluent/plugin/out_s3.rb', begins: 'No *chunk_id}', is: 'harmless' },
  { file: 'fluent/plugin/out_s3.rb', begins: "'*' parameter is deprecated", is: 'harmless' },
  {
    file: 'fluent/plugin/s3_compressor_',
    begins: 'failed to execute gzip command. Fallback',
    is: 'harmless',
  },
  {
    file: 'fluent/plugin/s3_compressor_',
    begins: 'failed to load zstd-ruby',
    is: 'harmless',
    why: 'at the start',
  },
  {
    file: 'fluent/plugin/s3_compressor_',
    begins: 'zstd compression failed',
    is: 'loss',
    retriedInFlush: true,
  },
  {
    file: 'fluent/plugin/out_gcs.rb',
    begins: 'object * already exists but overwrites it',
    is: 'loss',
    why: 'of earlier lines',
  },
  { file: 'fluent/plugin/gcs/', begins: 'failed to execute gzip command. Fallback', is: 'harmless' },

  // cloudwatch-logs 0.15.0
  { file: CLOUDWATCH, begins: 'record is nil', is: 'loss' },
  { file: CLOUDWATCH, begins: 'stream_name is nil', is: 'loss' },
  { file: CLOUDWATCH, begins: 'Log group * does not exist', is: 'loss' },
  { file: CLOUDWATCH, begins: 'Log stream * does not exist', is: 'loss' },
  { file: CLOUDWATCH, begins: 'Within specified message_key(s)', is: 'loss' },
  { file: CLOUDWATCH, begins: '', is: 'loss', why: 'events that CloudWatch rejected' },
  { file: CLOUDWATCH, begins: 'Called PutLogEvents API', is: 'loss' },
  { file: CLOUDWATCH, begins: 'failed to PutLogEvents and discard', is: 'loss' },
  { file: CLOUDWATCH, begins: 'failed to PutLogEvents', is: 'retry' },
  { file: CLOUDWATCH, begins: 'updating upload sequence token', is: 'retry' },
  { file: CLOUDWATCH, begins: 'Creating log stream because', is: 'retry' },
  { file: CLOUDWATCH, begins: 'retry succeeded', is: 'harmless' },
  { file: CLOUDWATCH, begins: 'failed to set retention policy', is: 'harmless' },

  // google-cloud 0.13.3
  { file: GOOGLE, begins: 'Dropping ', is: 'loss' },
  { file: GOOGLE, begins: 'Unknown response code', is: 'loss' },
  { file: GOOGLE, begins: 'Unexpected error type', is: 'loss' },
  { file: GOOGLE, begins: 'Encountered encoding issues', is: 'loss' },
  { file: GOOGLE, begins: 'Detected customized logging_api_url', is: 'harmless' },
  { file: GOOGLE, begins: 'monitoring_type', is: 'harmless' },
  { file: GOOGLE, begins: 'timeNanos is deprecated', is: 'harmless' },
  { file: GOOGLE, begins: 'Failed to ', is: 'harmless', why: 'the record goes on without it' },
  { file: GOOGLE, begins: 'Invalid value of', is: 'harmless', why: 'the record goes on without it' },
  { file: GOOGLE, begins: 'Unknown type:', is: 'harmless', why: 'the record goes on without it' },
  { file: GOOGLE, begins: 'construct_error_details_map_grpc', is: 'harmless' },
  { file: 'fluent/plugin/common.rb', begins: 'Failed to ', is: 'harmless', why: 'metadata' },
  { file: 'fluent/plugin/monitoring.rb', begins: 'Failed to ', is: 'harmless', why: 'metrics' },
  { file: 'fluent/plugin/filter_analyze_config.rb', begins: '*', is: 'harmless' },

  // sumologic_output 1.10.0, newrelic 1.2.3, logzio 0.2.2, gelf-hs 1.0.8
  { file: SUMOLOGIC, begins: 'dropping records;', is: 'loss' },
  { file: SUMOLOGIC, begins: 'log key', is: 'loss' },
  { file: SUMOLOGIC, begins: 'There was an issue sending data', is: 'loss' },
  {
    file: SUMOLOGIC,
    begins: 'Error decoding receiver response',
    is: 'loss',
    why: 'the answer was not understood',
  },
  { file: SUMOLOGIC, begins: 'error while sending request to sumo', is: 'retry' },
  { file: 'fluent/plugin/out_newrelic.rb', begins: 'Response was', is: 'loss' },
  { file: 'fluent/plugin/out_newrelic.rb', begins: "Can't compress record", is: 'loss' },
  { file: LOGZIO, begins: 'Adding record', is: 'loss' },
  { file: LOGZIO, begins: 'Record with size', is: 'loss' },
  { file: LOGZIO, begins: 'Received', is: 'loss' },
  { file: LOGZIO, begins: 'While trying to send fixed bad logs', is: 'loss' },
  { file: LOGZIO, begins: 'Error while sending POST to', is: 'retry' },
  { file: 'fluent/plugin/out_gelf.rb', begins: 'Error trying to serialize', is: 'loss' },
  { file: 'fluent/plugin/out_gelf.rb', begins: 'failed to flush the buffer', is: 'retry' },
  { file: 'fluent/plugin/formatter_gelf.rb', begins: 'Error trying to serialize', is: 'loss' },

  // kubernetes_metadata_filter 3.8.1: a record goes on without its metadata. A watch that gives up ends the worker, which shows.
  { file: KUBERNETES, begins: "Exception '*' encountered fetching", is: 'harmless' },
  { file: KUBERNETES, begins: '!! The environment variable', is: 'harmless' },
  { file: KUBERNETES, begins: 'Error: invalid regular expression', is: 'harmless' },
  { file: 'fluent/plugin/kubernetes_metadata_common.rb', begins: 'parsing ', is: 'harmless' },
  {
    file: 'fluent/plugin/kubernetes_metadata_watch_',
    begins: 'Exception encountered parsing',
    is: 'harmless',
  },

  // concat 2.6.2, detect-exceptions 0.0.16, rewrite-tag-filter 2.4.1, prometheus 2.3.0, record-modifier 2.2.1, throttle 0.0.5,
  // geoip 1.3.2
  { file: 'fluent/plugin/filter_concat.rb', begins: 'failed to flush timeout buffer', is: 'loss' },
  { file: 'fluent/plugin/out_detect_exceptions.rb', begins: 'error in check_flush_loop', is: 'loss' },
  {
    file: 'fluent/plugin/out_rewrite_tag_filter.rb',
    begins: 'rewrite_tag_filter: unknown placeholder',
    is: 'harmless',
  },
  { file: 'fluent/plugin/prometheus', begins: '*', is: 'harmless', why: 'the record goes on' },
  { file: 'fluent/plugin/filter_record_modifier.rb', begins: 'You should use', is: 'harmless' },
  { file: 'fluent/plugin/out_record_modifier.rb', begins: 'You should use', is: 'harmless' },
  { file: 'fluent/plugin/filter_throttle.rb', begins: 'rate exceeded', is: 'loss' },
  {
    file: 'fluent/plugin/filter_geoip.rb',
    begins: '* is empty string',
    is: 'harmless',
    why: 'the record goes on',
  },
  { file: 'fluent/plugin/filter_geoip.rb', begins: '* is not treated as nested', is: 'harmless' },
];
