import { counted, given, harmless, loss, type MessageRow, retry } from './message-row.ts';

const TAIL_CLASS = 'Fluent::Plugin::TailInput';
const UNMATCHED = { class: TAIL_CLASS, setting: 'emit_unmatched_lines', value: true };
const SINGLE_LINES = { class: TAIL_CLASS, setting: 'multiline_mode', value: false };
const RESERVED = { class: 'Fluent::Plugin::ParserFilter', setting: 'reserve_data', value: true };
const ERROR_EVENTS = ['dump an error event: ', 'send an error event to @ERROR: '];

const SUPERVISOR = 'fluent/supervisor.rb';
const TAIL = 'fluent/plugin/in_tail';
const OUTPUT = 'fluent/plugin/output.rb';
const BUFFER = 'fluent/plugin/buffer.rb';
const BUF = 'fluent/plugin/buf_';
const FORWARD = 'fluent/plugin/out_forward';
const AGENT = 'fluent/root_agent.rb';

const allHarmless = (files: string) => files.split(' ').flatMap((file) => harmless(`fluent/${file}`, '*'));

/** Collected from the sources of Fluentd 1.14, 1.16, 1.18 and 1.20. */
export const FLUENTD_MESSAGES: readonly MessageRow[] = [
  // Error events. A filter that raises loses its record. The parser filter may let the record pass.
  ...given(
    { harmlessIf: RESERVED, error: 'ParserError' },
    loss(AGENT, ...ERROR_EVENTS.map((says) => `${says}pattern not matched with data`)),
  ),
  ...given(
    { harmlessIf: RESERVED, error: 'ArgumentError' },
    loss(AGENT, ...ERROR_EVENTS.map((says) => `${says}* does not exist`)),
  ),
  // in_tail tries again. A multiline source has lost the beginning of the record by then.
  ...given(
    { harmlessIf: SINGLE_LINES, error: 'BufferOverflowError' },
    loss(AGENT, 'emit transaction failed'),
  ),
  ...loss(AGENT, 'dump an error event'),
  ...loss(AGENT, 'send an error event'), // the record went to <label @ERROR> instead
  ...loss(AGENT, 'emit transaction failed'), // in_tail goes on after this error
  ...loss(AGENT, 'unexpected error while'), // a plugin did not start or stop well
  ...harmless(AGENT, 'unexpected error while flushing buffer'), // the buffer keeps its chunks
  ...loss('fluent/match.rb', 'no patterns matched'),
  ...loss('fluent/plugin/parser', 'a line or a value became no record, or an empty one'), // a text of the witness
  ...loss('fluent/plugin/buffer', 'the queue was cleared'), // a text of the witness
  ...loss('fluent/source_only_buffer_agent.rb', 'SourceOnlyBufferAgent:', 'some buffer files remain'),
  ...harmless('fluent/source_only_buffer_agent.rb', 'failed to remove the buffer directory'),

  // The engine, the supervisor, configuration, Fluentd's own log.
  ...loss('fluent/engine.rb', 'unexpected error'), // the worker ends
  ...harmless('fluent/engine.rb', "parameter '", 'section <', 'Deprecated method'),
  ...loss(SUPERVISOR, 'unexpected error', 'config error'), // the worker ends
  ...harmless(SUPERVISOR, 'zero-downtime-restart:', 'failed to cancel source only', 'failed to dump'),
  ...harmless(SUPERVISOR, 'failed to start', 'failed to enable Ruby JIT'),
  ...harmless(SUPERVISOR, 'fluentd main process get unknown command', 'the value "*" for'),
  ...harmless(SUPERVISOR, 'Recommend adding', 'Unexpected re*n value of Win#'),
  ...harmless(SUPERVISOR, 'Invalid option is passed to RUBYOPT'),
  ...harmless(SUPERVISOR, 'failed to reload config', 'Failed to reload config file'), // the old one stays
  ...harmless(SUPERVISOR, 'flushing thread error'), // the buffer keeps its chunks
  ...harmless('fluent/system_config.rb', 'config error'),
  ...harmless('fluent/config.rb', 'Ruby DSL configuration format is deprecated'),

  // in_tail. The witness sees by itself which files in_tail does not follow or closes unread.
  // '"': Fluentd 1.20 logs only the line that does not match.
  ...given({ harmlessIf: UNMATCHED }, loss(TAIL, 'pattern not matched', '"')),
  ...given({ harmlessIf: UNMATCHED }, loss(TAIL, 'got incomplete line at shutdown')),
  ...given({ harmlessIf: UNMATCHED }, loss(TAIL, 'got incomplete line before first line')),
  ...loss(TAIL, 'invalid line found', 'received line length is longer'),
  ...loss(TAIL, 'in_tail worker pool did not drain', 'in_tail worker threads did not stop'),
  ...loss(TAIL, 'unexpected error while'),
  ...loss(TAIL, 'buffer space has too many data'), // a multiline record met a full buffer
  ...retry(TAIL, 'worker parsing failed; retrying'),
  ...harmless(TAIL, '… unreadable. It is excluded', 'Permission denied', 'Unparsable line in pos_file'),
  ...harmless(TAIL, '… already exists. use latest one', 'expand_paths: stat() for', 'stat() for'),
  ...harmless(TAIL, 'Could not follow a file', 'Skip ', 'detach_watcher could be detaching'),
  ...harmless(TAIL, 'Cannot find group from metadata', "'*' parameter is not set"),
  ...harmless(TAIL, 'this parameter is highly recommended', 'Should specify greater equal'),
  ...harmless(TAIL, "'*' and '*' are same encoding", 'in_tail worker parsing is unavailable'),
  ...harmless(TAIL, 'pattern not matched: ""', '""', 'got incomplete line at shutdown from … ""'), // an empty line
  ...harmless(TAIL, 'Too many '), // new files are found later
  ...harmless(TAIL, 'worker parsing failed during shutdown'), // the position stays

  // Buffers and flushes.
  ...counted(OUTPUT, 'Hit limit for retries', 'got unrecoverable error in', 'got an error in secondary for'),
  ...counted([OUTPUT, BUFFER], 'disable_chunk_backup is true', 'bad chunk is moved to'),
  ...counted(OUTPUT, 'dropping oldest chunk'),
  ...counted(OUTPUT, 'retry succeeded by secondary'), // the chunk went to <secondary> instead
  ...loss(OUTPUT, 'failed to back up'),
  ...loss(OUTPUT, 'error on enqueue thread', 'error on output thread'), // nothing is flushed any more
  ...retry(OUTPUT, 'failed to flush the buffer'),
  ...harmless(OUTPUT, 'retry succeeded.', 'buffer flush took longer time', 'thread is already dead'),
  ...harmless(OUTPUT, 'tag placeholder', 'chunk key placeholder', '*chunk_id} is not allowed'),
  ...harmless(OUTPUT, 'many chunk keys specified', "'*' is true, but can't check"),
  ...harmless(OUTPUT, 'your configuration will lose buffered data', 'your WaitToKillServiceTimeout='),
  ...harmless(OUTPUT, "'*' is ignored because", "<secondary> with '*'"),
  ...harmless(OUTPUT, 'Use different plugin for secondary'),
  ...harmless(OUTPUT, 'no queued chunks to be dropped'), // in_tail tries again
  ...harmless(OUTPUT, 'failed to write data into buffer by buffer overflow'), // in_tail tries again
  ...harmless(OUTPUT, 'breaking block behavior to shutdown'), // the position stays
  ...harmless(OUTPUT, 'unexpected error while checking flushed chunks'), // the chunks stay
  ...harmless(OUTPUT, "'*' is false, and buffer plugin"), // the witness sees what the buffer holds
  ...loss(BUFFER, 'error occurs in committing chunks', 'error occurs in enqueueing a chunk'),
  ...loss(BUFFER, 'unexpected error while clearing buffer queue', 'some chunks are purged'),
  ...loss(BUFFER, 'failed to get the size of the evacuated'),
  ...harmless(BUFFER, 'evacuate_limit_size'),
  ...harmless(BUFFER, 'chunk bytes limit exceeds', 'chunk size limit exceeds'), // Fluentd writes record by record then
  ...harmless(BUFFER, 'failed to purge buffer chunk'), // the chunk was sent
  ...loss(BUF, 'found broken chunk file', 'backup failed. Delete', 'disable_chunk_backup is true'),
  ...loss(BUF, 'unexpected error while evacuating'),
  ...counted(BUF, 'chunk files are evacuated'),
  ...harmless(BUF, 'file_single doesn', 'file buffer with multi workers'),
  ...harmless(BUF, 'file_single buffer with multi workers'),
  ...harmless(BUF, ''), // restoring buffer file, logged by a block

  // Outputs and filters.
  ...retry(FORWARD, 'no response from node', 'unexpected error while receiving ack'),
  ...retry(FORWARD, 'destination node closed the connection', 'ack in response and chunk id'),
  ...retry(FORWARD, 'BUG: invalid status', 'disconnected', 'received invalid helo'),
  ...retry(FORWARD, 'connection refused to', 'handshake timeout', 'No nodes are available'),
  ...harmless(FORWARD, 'using standby node', 'detached forwarding server', 'recovered forwarding server'),
  ...harmless(FORWARD, 'Unknown heartbeat response', 'failed to resolve node name'),
  ...harmless(FORWARD, "'*' is deprecated. use", 'TLS transport is configured'),
  ...harmless(FORWARD, 'The value of keepalive_timeout', 'zstd compression feature'),
  ...harmless(FORWARD, "forward's connection setting error"), // Fluentd does not start
  ...loss('fluent/plugin/out_http.rb', 'got error response from'),
  ...harmless('fluent/plugin/out_http.rb', 'Status code # is going to be removed'),
  ...retry('fluent/plugin/out_exec.rb', '*'), // the chunk goes back to its buffer
  ...loss('fluent/plugin/out_exec_filter.rb', 'child process exits with error'),
  ...loss('fluent/plugin/out_exec_filter.rb', 'exec_filter failed to emit'),
  ...loss('fluent/plugin/out_copy.rb', 'ignore emit error in'),
  ...harmless('fluent/plugin/out_copy.rb', 'ignore_errors are specified'),
  ...loss('fluent/plugin/multi_output.rb', 'unexpected error while calling'),
  ...harmless('fluent/plugin/filter_grep.rb', 'failed to grep events'), // the record goes on
  ...harmless('fluent/plugin/filter_record_transformer.rb', 'failed to parse', 'unknown placeholder'),
  ...harmless('fluent/plugin/parser.rb', 'parsing timed out'), // then the line counts as not matching

  // Plugin helpers.
  ...loss('fluent/plugin_helper/thread.rb', 'thread exited by unexpected error'),
  ...harmless('fluent/plugin_helper/thread.rb', "thread doesn't exit correctly", 'killing existing thread'), // at the stop
  ...loss('fluent/plugin_helper/timer.rb', 'Unexpected error raised. Stopping the timer', 'Timer detached'),
  ...loss('fluent/plugin_helper/child_process.rb', 'Unexpected'),
  ...harmless('fluent/plugin_helper/child_process.rb', 'previous child process is still running'),
  ...harmless('fluent/plugin_helper/child_process.rb', 'child process timed out'), // its output reports it
  ...retry('fluent/plugin_helper/socket.rb', '*'), // without a connection there is no answer, so the chunk stays
  ...harmless('fluent/plugin_helper/socket.rb', 'failed to load system default'),

  // Files whose messages are all harmless.
  ...allHarmless('config/ log/ fluent_log_event_router.rb msgpack_factory.rb rpc.rb counter/'),
  ...allHarmless('plugin/storage_local.rb plugin_helper/socket_option.rb plugin_helper/cert_option.rb'),
  ...allHarmless('plugin_helper/service_discovery plugin_helper/storage.rb plugin_helper/inject.rb'),
  ...allHarmless('plugin_helper/extract.rb compat/call_super_mixin.rb compat/detach_process_mixin.rb'),
  ...allHarmless('compat/handle_tag_and_time_mixin.rb compat/output.rb'),
  ...allHarmless('plugin/sd_'), // the servers stay as they are
  ...allHarmless('plugin/out_file.rb plugin/out_stream.rb'), // deprecations and symlinks only
  ...allHarmless('plugin_helper/event_loop.rb plugin_helper/formatter.rb'), // at start and stop
  ...allHarmless('plugin_helper/parser.rb plugin_helper/metrics.rb'), // at start and stop
  ...allHarmless('plugin_helper/server.rb plugin_helper/http_server compat/socket_util.rb'), // of inputs
];
