import type { ConfFacts } from '../fluent-conf/facts.ts';
import { counted, formatBytes } from '../text/units.ts';

/** A chunk file on disk. */
export interface Chunk {
  readonly path: string;
  readonly size: number;
}

/** What one output holds, as its worker's monitor_agent tells. */
export interface OutputReading {
  readonly id: string;
  readonly chunks: number;
  readonly bytes: number;
  /** It failed and waits for its next try. */
  readonly retrying: boolean;
}

/** How much is held in buffers. */
export interface Held {
  readonly chunks: number;
  readonly bytes: number;
}

/** What can be seen of Fluentd's buffers in one look. */
export interface BuffersReading {
  /** Chunk files, staged and queued. */
  readonly onDisk: readonly Chunk[];
  /** Outputs with a buffer of whatever type, where a monitor_agent tells of them. */
  readonly outputs: readonly OutputReading[];
  /** Where to look is known, but there was no answer. */
  readonly silent: readonly string[];
  /** Outputs whose buffer nobody can see. */
  readonly unseen: readonly string[];
  /** Some buffer is in memory: what it holds is gone when Fluentd is. */
  readonly inMemory: boolean;
  /** The configuration is known, whole, and no output in it has a buffer. */
  readonly none: boolean;
}

export const NO_BUFFERS: BuffersReading = {
  onDisk: [],
  outputs: [],
  silent: [],
  unseen: [],
  inMemory: false,
  none: true,
};

/** What keeps "buffers empty" from holding; undefined: nothing that can be seen. */
export function whatIsBuffered({ onDisk, outputs, silent }: BuffersReading): string | undefined {
  const held = outputs.filter(({ chunks, bytes, retrying }) => chunks > 0 || bytes > 0 || retrying);
  const parts = [
    onDisk.length > 0 && `${counted(onDisk.length, 'chunk')} (${formatBytes(sizeOf(onDisk))}) on disk`,
    ...held.map(describeOutput),
    ...silent,
  ].filter((part) => typeof part === 'string');
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** An output that retries gives up at once when it is told to stop (output.rb, force_flush). */
export function isRetrying({ outputs }: BuffersReading): boolean {
  return outputs.some(({ retrying }) => retrying);
}

/** Chunks and bytes left; a chunk on disk is also counted by its output, so the larger figure of the two holds. */
export function bufferedIn(buffers: BuffersReading | undefined): Held {
  const { onDisk, outputs } = buffers ?? NO_BUFFERS;
  const told = outputs.reduce((sum, { chunks }) => sum + chunks, 0);
  const bytes = outputs.reduce((sum, output) => sum + output.bytes, 0);
  return { chunks: Math.max(onDisk.length, told), bytes: Math.max(sizeOf(onDisk), bytes) };
}

/** The outputs whose buffers cannot be seen, each with why; `conf` undefined: no configuration is known. */
export function unseenBuffers(
  conf: Pick<ConfFacts, 'buffers' | 'monitorAgents' | 'complete'> | undefined,
): readonly string[] {
  if (conf === undefined) return ['all: no fluent.conf is known'];
  if (conf.monitorAgents.length > 0) return [];
  const unread = conf.complete
    ? []
    : ['whatever stands in the part of fluent.conf that could not be evaluated'];
  const buffers = conf.buffers
    .filter(({ chunkGlobs }) => chunkGlobs.length === 0)
    .map(({ name, type }) => `${name} (${type} buffer)`);
  return [...unread, ...buffers];
}

/** Reads monitor_agent's `/api/plugins.json`; undefined where it is none. */
export function parseMonitorAgent(text: string): readonly OutputReading[] | undefined {
  try {
    const { plugins } = JSON.parse(text) as { plugins?: unknown };
    return Array.isArray(plugins) ? plugins.filter(hasBuffer).map(outputOf) : undefined;
  } catch {
    return undefined;
  }
}

/** lib/fluent/plugin/in_monitor_agent.rb, MONITOR_INFO. */
interface MonitoredPlugin {
  readonly plugin_id?: string;
  readonly buffer_queue_length?: number;
  readonly buffer_stage_length?: number;
  readonly buffer_total_queued_size?: number;
  readonly retry?: Readonly<Record<string, unknown>>;
}

function hasBuffer(plugin: MonitoredPlugin): boolean {
  return (
    typeof plugin.buffer_total_queued_size === 'number' || typeof plugin.buffer_queue_length === 'number'
  );
}

/** A chunk leaves the queue length when its sending begins, the size only when it is done; the size may go below zero (#1766). */
function outputOf(plugin: MonitoredPlugin): OutputReading {
  const chunks = Math.max(0, plugin.buffer_queue_length ?? 0) + Math.max(0, plugin.buffer_stage_length ?? 0);
  return {
    id: plugin.plugin_id ?? '',
    chunks,
    bytes: Math.max(0, plugin.buffer_total_queued_size ?? 0),
    retrying: Object.keys(plugin.retry ?? {}).length > 0,
  };
}

function describeOutput({ id, chunks, bytes, retrying }: OutputReading): string {
  return `${counted(chunks, 'chunk')} (${formatBytes(bytes)}) in ${id}${retrying ? ', which retries' : ''}`;
}

function sizeOf(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { size }) => sum + size, 0);
}
