import { given, harmless, loss, type MessageRow, retry } from './message-row.ts';

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
const S3 = 'fluent/plugin/out_s3.rb';
const LOKI = 'fluent/plugin/out_loki.rb';

/** ruby-kafka may put tags before a message. */
const tagged = (...begins: readonly string[]) => begins.flatMap((says) => [says, `[*] ${says}`]);

/** Collected from the plugins' sources. The version is above its rows. */
export const PLUGIN_MESSAGES: readonly MessageRow[] = [
  // elasticsearch 6.0.0, opensearch 1.1.8: a permanently refused record is an error event.
  ...loss([ELASTICSEARCH, OPENSEARCH], 'Could not bulk insert to Data Stream', 'Exception ignored in tag'),
  ...harmless([ELASTICSEARCH, OPENSEARCH], 'Consider to specify log_level', 'Detected '),
  ...harmless([ELASTICSEARCH, OPENSEARCH], 'TLS handshake will be stucked', 'Cannot find class'),
  ...harmless([ELASTICSEARCH, OPENSEARCH], '* can not dig version information'),
  ...loss(ELASTICSEARCH, 'Could not push log to Elasticsearch'),
  ...harmless(ELASTICSEARCH, 'Elasticsearch dynamic plugin will be deprecated'),
  ...harmless(OPENSEARCH, 'Failed to get new AWS credentials', "'*' uses a placeholder"),
  ...harmless(OPENSEARCH, "'*' has a user and password"),
  ...retry(['fluent/plugin/elasticsearch_', 'fluent/plugin/opensearch_'], 'Could not communicate to'),
  ...retry(['fluent/plugin/elasticsearch_', 'fluent/plugin/opensearch_'], 'Remaining retry'),
  ...harmless(['fluent/plugin/elasticsearch_', 'fluent/plugin/opensearch_'], "'*' does not have any effect"),
  ...harmless(['fluent/plugin/elasticsearch_', 'fluent/plugin/opensearch_'], 'Error while index creation'), // no record

  // kafka 0.19.9, and ruby-kafka 1.5.0 (logs to Fluentd only with get_kafka_client_log)
  ...loss([KAFKA, RDKAFKA], 'record size exceeds max_send_limit_bytes. Skip'),
  ...loss([KAFKA, RDKAFKA], 'unexpected error during format record. Skip'),
  ...retry([KAFKA, RDKAFKA], 'Send exception occurred', 'Exception Backtrace'),
  ...harmless([KAFKA, RDKAFKA], "Use '*' field", 'default_topic is set'),
  ...loss(KAFKA, 'DeliveryFailed occurred. Discard', 'Exception ignored in tag', 'BufferOverflow occurred'),
  ...retry(KAFKA, "'*' topic not found. Retry with"),
  ...harmless(KAFKA, 'failed to shut down the discarded producer', "'*' option discards events"),
  ...harmless(KAFKA, 'If this is unexpected, you need to check', "'*' parameter is deprecated"),
  ...harmless(KAFKA, 'Support of fluentd', 'share_producer sends one chunk'),
  ...harmless(KAFKA, 'No brokers found on Zookeeper'), // at the start
  ...loss(RDKAFKA, 'Delivery failed', 'Queue is forcefully closed'),
  ...retry(RDKAFKA, 'Failed to enqueue message; attempting retry'),
  ...harmless('fluent/plugin/kafka_plugin_util.rb', 'scram_mechanism is ignored'),
  ...retry('fluent/plugin/kafka_producer_ext.rb', 'Failed to'),
  ...retry(
    RUBY_KAFKA,
    ...tagged(
      'Failed to',
      'Timed out while',
      'No brokers in cluster',
      'Leader ',
      'Topic `*` not yet created',
      'Could not connect to',
      'Corrupt message when writing',
      'Unknown topic or partition',
      'Broker * not currently leader',
      'Not enough in-sync replicas',
      'Messages written, but to fewer',
      'Received out-of-order response',
    ),
  ),
  ...harmless(RUBY_KAFKA, ...tagged('Connection has been unused')),

  // splunk-hec 1.3.3: with consume_chunk_on_4xx_errors (the default) any 4xx discards the chunk, even 429.
  ...loss(SPLUNK, 'Failed POST to', '*: Failed POST to', '*: POST Body'),
  ...loss(SPLUNK, ''), // logged by a block: a blank event, a refused or badly encoded one
  ...harmless(SPLUNK, 'expected field'),

  // grafana-loki 1.3.0 (raises only after 429 and 5xx), loki 0.3.0
  ...given({ retriedInFlush: true }, loss(LOKI, 'failed to write post to')),
  ...loss(LOKI, 'Net::HTTP.* raises exception', 'failed to '),
  ...harmless(LOKI, 'client certificate file contains'),

  // datadog 0.15.1
  ...loss('fluent/plugin/out_datadog.rb', 'Unable to send payload due to client error'),
  ...retry('fluent/plugin/out_datadog.rb', 'Retrying', 'Processing exception in datadog'),

  // s3 1.8.6, gcs 0.4.5
  ...loss(S3, '* already exists, but will overwrite'), // it overwrites earlier lines
  ...harmless(S3, 'out_s#: delayed events were put to', "'*' not supported. Use '*'"),
  ...harmless(S3, 'reduced_redundancy parameter is deprecated', "Set '*' and s#_object_key_format"),
  ...harmless(S3, '%{hostname} will be removed', 'The default value of s#_object_key_format'),
  ...harmless(S3, 'No *chunk_id}', "'*' parameter is deprecated"),
  ...harmless('fluent/plugin/s3_compressor_', 'failed to execute gzip command. Fallback'),
  ...given({ retriedInFlush: true }, loss('fluent/plugin/s3_compressor_', 'zstd compression failed')),
  ...harmless('fluent/plugin/s3_compressor_', 'failed to load zstd-ruby'), // at the start
  ...loss('fluent/plugin/out_gcs.rb', 'object * already exists but overwrites it'), // it overwrites earlier lines
  ...harmless('fluent/plugin/gcs/', 'failed to execute gzip command. Fallback'),

  // cloudwatch-logs 0.15.0
  ...loss(CLOUDWATCH, 'record is nil', 'stream_name is nil', 'Log group * does not exist'),
  ...loss(CLOUDWATCH, 'Log stream * does not exist', 'Within specified message_key(s)'),
  ...loss(CLOUDWATCH, 'Called PutLogEvents API', 'failed to PutLogEvents and discard'),
  ...loss(CLOUDWATCH, ''), // events that CloudWatch rejected
  ...retry(CLOUDWATCH, 'failed to PutLogEvents', 'updating upload sequence token'),
  ...retry(CLOUDWATCH, 'Creating log stream because'),
  ...harmless(CLOUDWATCH, 'retry succeeded', 'failed to set retention policy'),

  // google-cloud 0.13.3
  ...loss(GOOGLE, 'Dropping ', 'Unknown response code', 'Unexpected error type'),
  ...loss(GOOGLE, 'Encountered encoding issues'),
  ...harmless(GOOGLE, 'Detected customized logging_api_url', 'monitoring_type', 'timeNanos is deprecated'),
  ...harmless(GOOGLE, 'construct_error_details_map_grpc'),
  ...harmless(GOOGLE, 'Failed to ', 'Invalid value of', 'Unknown type:'), // the record goes on without it
  ...harmless('fluent/plugin/common.rb', 'Failed to '), // metadata
  ...harmless('fluent/plugin/monitoring.rb', 'Failed to '), // metrics

  // sumologic_output 1.10.0, newrelic 1.2.3, logzio 0.2.2, gelf-hs 1.0.8
  ...loss(SUMOLOGIC, 'dropping records;', 'log key', 'There was an issue sending data'),
  ...loss(SUMOLOGIC, 'Error decoding receiver response'), // the answer was not understood
  ...retry(SUMOLOGIC, 'error while sending request to sumo'),
  ...loss('fluent/plugin/out_newrelic.rb', 'Response was', "Can't compress record"),
  ...loss(LOGZIO, 'Adding record', 'Record with size', 'Received', 'While trying to send fixed bad logs'),
  ...retry(LOGZIO, 'Error while sending POST to'),
  ...loss('fluent/plugin/out_gelf.rb', 'Error trying to serialize'),
  ...retry('fluent/plugin/out_gelf.rb', 'failed to flush the buffer'),
  ...loss('fluent/plugin/formatter_gelf.rb', 'Error trying to serialize'),

  // kubernetes_metadata_filter 3.8.1: a record goes on without its metadata. A watch that gives up ends the worker, which shows.
  ...harmless(KUBERNETES, "Exception '*' encountered fetching", '!! The environment variable'),
  ...harmless(KUBERNETES, 'Error: invalid regular expression'),
  ...harmless('fluent/plugin/kubernetes_metadata_common.rb', 'parsing '),
  ...harmless('fluent/plugin/kubernetes_metadata_watch_', 'Exception encountered parsing'),

  // concat 2.6.2, detect-exceptions 0.0.16, rewrite-tag-filter 2.4.1, prometheus 2.3.0, record-modifier 2.2.1, throttle 0.0.5, geoip 1.3.2
  ...loss('fluent/plugin/filter_concat.rb', 'failed to flush timeout buffer'),
  ...loss('fluent/plugin/out_detect_exceptions.rb', 'error in check_flush_loop'),
  ...harmless('fluent/plugin/out_rewrite_tag_filter.rb', 'rewrite_tag_filter: unknown placeholder'),
  ...harmless('fluent/plugin/filter_record_modifier.rb', 'You should use'),
  ...harmless('fluent/plugin/out_record_modifier.rb', 'You should use'),
  ...loss('fluent/plugin/filter_throttle.rb', 'rate exceeded'),
  ...harmless('fluent/plugin/filter_geoip.rb', '* is not treated as nested'),
  ...harmless('fluent/plugin/filter_geoip.rb', '* is empty string'), // the record goes on
  ...harmless('fluent/plugin/filter_analyze_config.rb', '*'),
  ...harmless('fluent/plugin/prometheus', '*'), // the record goes on
];
