/** What a worker's monitor_agent tells of one output that has a buffer. */
export interface MonitoredOutput {
  /** `@id`, or `object:…` where the output has none. */
  readonly id: string;
  readonly type: string;
  /** Chunks that wait, staged or queued; one that is being sent does not count. */
  readonly chunks: number;
  /** Bytes in the buffer, also of chunks that are being sent. */
  readonly bytes: number;
  /** It failed and waits for its next try. */
  readonly retrying: boolean;
  /** Chunks that were sent, or are being sent. A chunk that was put into the backup directory counts as sent. */
  readonly sent: number;
  /** Attempts that failed. */
  readonly failures: number;
  /** Chunks that a full buffer has thrown away (overflow_action drop_oldest_chunk); undefined: not told before 1.20. */
  readonly dropped: number | undefined;
  /** Records that the output has taken into its buffer. */
  readonly emitted: number;
  /** Records that could not be put into the buffer: too large, a full disk, a full buffer. */
  readonly emitErrors: number;
  /** How much of the buffer's size limit is free, in percent. */
  readonly space: number;
}

/** Asks for retries whatever `include_retry` says. Fluentd 1.20 no longer takes the question, and its counters have to do. */
export const PLUGINS_PATH = '/api/plugins.json?with_retry=yes&with_config=no';
export const CONFIG_PATH = '/api/config.json';

/** Reads the answer to PLUGINS_PATH; undefined where it is none of a monitor_agent. */
export function parsePlugins(text: string): readonly MonitoredOutput[] | undefined {
  const { plugins } = parsed(text) as { plugins?: unknown };
  return Array.isArray(plugins) ? plugins.filter(hasBuffer).map(outputOf) : undefined;
}

/** Which process answers, from CONFIG_PATH: the worker's pid and its supervisor's; undefined where it is not told. */
export function parseAgentIdentity(text: string): string | undefined {
  const { pid, ppid } = parsed(text) as { pid?: unknown; ppid?: unknown };
  return typeof pid === 'number' ? `${pid} ${ppid}` : undefined;
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** lib/fluent/plugin/in_monitor_agent.rb, MONITOR_INFO, and the statistics of output.rb and buffer.rb. */
interface MonitoredPlugin {
  readonly plugin_id?: string;
  readonly type?: string;
  readonly buffer_queue_length?: number;
  readonly buffer_stage_length?: number;
  readonly buffer_total_queued_size?: number;
  readonly buffer_available_buffer_space_ratios?: number;
  readonly emit_records?: number;
  readonly write_count?: number;
  readonly rollback_count?: number;
  readonly retry_count?: number;
  readonly drop_oldest_chunk_count?: number;
  readonly retry?: Readonly<Record<string, unknown>>;
}

function hasBuffer(plugin: MonitoredPlugin): boolean {
  return (
    typeof plugin.buffer_total_queued_size === 'number' || typeof plugin.buffer_queue_length === 'number'
  );
}

/**
 * A chunk leaves the queue length when its sending begins, the size only when it is done; the size may go below zero (#1766).
 * retry_count counts every error, also those of emits; each attempt that failed is taken back and counted by rollback_count.
 */
function outputOf(plugin: MonitoredPlugin): MonitoredOutput {
  const { rollback_count: rollbacks = 0 } = plugin;
  return {
    id: plugin.plugin_id ?? '',
    type: plugin.type ?? '',
    chunks: Math.max(0, plugin.buffer_queue_length ?? 0) + Math.max(0, plugin.buffer_stage_length ?? 0),
    bytes: Math.max(0, plugin.buffer_total_queued_size ?? 0),
    retrying: Object.keys(plugin.retry ?? {}).length > 0,
    sent: (plugin.write_count ?? 0) - rollbacks,
    failures: rollbacks,
    dropped: plugin.drop_oldest_chunk_count,
    emitted: plugin.emit_records ?? 0,
    emitErrors: Math.max(0, (plugin.retry_count ?? 0) - rollbacks),
    space: plugin.buffer_available_buffer_space_ratios ?? 100,
  };
}
