import type { ConfFacts } from '../core/fluent-conf/facts.ts';
import type { MonitorAgent } from '../core/fluent-conf/fluent-conf.ts';
import {
  type BuffersReading,
  type Chunk,
  NO_BUFFERS,
  type OutputReading,
  parseMonitorAgent,
  unseenBuffers,
} from '../core/fluentd/buffers.ts';
import type { Depth } from '../core/look/snapshot.ts';
import type { Host } from '../host.ts';

type Looks = Pick<Host, 'listChunks' | 'get'>;

/** What can be seen of Fluentd's buffers: chunk files on disk, and what each worker's monitor_agent tells. */
export async function readBuffers(
  host: Looks,
  conf: ConfFacts | undefined,
  depth: Depth,
): Promise<BuffersReading> {
  const unseen = unseenBuffers(conf);
  if (conf === undefined) return { ...NO_BUFFERS, unseen, none: false };
  if (conf.buffers.length === 0 && conf.complete) return NO_BUFFERS;
  const disk = await lookOnDisk(host, conf);
  const agents = depth === 'all' ? conf.monitorAgents : [];
  const told = await Promise.all(agents.map((agent) => ask(host, agent)));
  return {
    onDisk: disk.chunks,
    outputs: told.flatMap(({ outputs }) => outputs),
    silent: [...disk.silent, ...told.flatMap(({ silent }) => silent)],
    unseen,
    inMemory: unseen.length > 0 || conf.buffers.some(({ chunkGlobs }) => chunkGlobs.length === 0),
    none: false,
  };
}

async function lookOnDisk(
  host: Looks,
  { buffers }: ConfFacts,
): Promise<{ chunks: readonly Chunk[]; silent: string[] }> {
  try {
    return { chunks: await host.listChunks(buffers.flatMap(({ chunkGlobs }) => chunkGlobs)), silent: [] };
  } catch (error) {
    return { chunks: [], silent: [`the chunks on disk cannot be listed (${(error as Error).message})`] };
  }
}

interface Told {
  readonly outputs: readonly OutputReading[];
  readonly silent: readonly string[];
}

async function ask(host: Looks, { bind, port }: MonitorAgent): Promise<Told> {
  const text = await host.get({ host: reachable(bind), port }, '/api/plugins.json');
  const outputs = text === undefined ? undefined : parseMonitorAgent(text);
  if (outputs !== undefined) return { outputs, silent: [] };
  return { outputs: [], silent: [`no answer from monitor_agent at ${bind}:${port}`] };
}

/** To listen on every address is to listen on loopback too, which the containers of a Pod share. */
function reachable(bind: string): string {
  if (bind === '0.0.0.0') return '127.0.0.1';
  return bind === '::' ? '::1' : bind;
}
