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

/** More of them are none of a Fluentd's, and would fill the memory. */
const MOST_PLUGINS = 1_000;
const LONGEST_NAME = 1_000;

/** Reads the answer to PLUGINS_PATH; undefined where it is none of a monitor_agent. */
export function parsePlugins(text: string): readonly MonitoredOutput[] | undefined {
  const { plugins } = parsed(text) as { plugins?: unknown };
  if (!Array.isArray(plugins) || plugins.length > MOST_PLUGINS) return undefined;
  return plugins.filter(hasBuffer).map(outputOf);
}

/** Which process answers, from CONFIG_PATH: the worker's pid and its supervisor's; undefined where it is not told. */
export function parseAgentIdentity(text: string): string | undefined {
  const { pid, ppid } = parsed(text) as { pid?: unknown; ppid?: unknown };
  return typeof pid === 'number' ? `${pid} ${typeof ppid === 'number' ? ppid : ''}` : undefined;
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
  readonly plugin_id?: unknown;
  readonly type?: unknown;
  readonly buffer_queue_length?: unknown;
  readonly buffer_stage_length?: unknown;
  readonly buffer_total_queued_size?: unknown;
  readonly buffer_available_buffer_space_ratios?: unknown;
  readonly emit_records?: unknown;
  readonly write_count?: unknown;
  readonly rollback_count?: unknown;
  readonly retry_count?: unknown;
  readonly drop_oldest_chunk_count?: unknown;
  readonly retry?: unknown;
}

function hasBuffer(plugin: unknown): plugin is MonitoredPlugin {
  const { buffer_total_queued_size: size, buffer_queue_length: queue } = (plugin ?? {}) as MonitoredPlugin;
  return typeof size === 'number' || typeof queue === 'number';
}

/** Whoever shares loopback may answer in Fluentd's place, with anything. */
function outputOf(plugin: MonitoredPlugin): MonitoredOutput {
  const rollbacks = numberOf(plugin.rollback_count);
  const dropped = plugin.drop_oldest_chunk_count;
  return {
    id: textOf(plugin.plugin_id),
    type: textOf(plugin.type),
    chunks: countOf(plugin.buffer_queue_length) + countOf(plugin.buffer_stage_length),
    bytes: countOf(plugin.buffer_total_queued_size),
    retrying: Object.keys(plugin.retry ?? {}).length > 0,
    sent: numberOf(plugin.write_count) - rollbacks,
    failures: rollbacks,
    dropped: typeof dropped === 'number' ? dropped : undefined,
    emitted: numberOf(plugin.emit_records),
    emitErrors: Math.max(0, numberOf(plugin.retry_count) - rollbacks),
    space: numberOf(plugin.buffer_available_buffer_space_ratios, 100),
  };
}

function countOf(value: unknown): number {
  return Math.max(0, numberOf(value));
}

function numberOf(value: unknown, otherwise = 0): number {
  return typeof value === 'number' ? value : otherwise;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, LONGEST_NAME) : '';
}
