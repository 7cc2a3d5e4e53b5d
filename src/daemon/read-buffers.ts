import type { MonitorAgent } from '../core/fluent-conf/fluent-conf.ts';
import {
  type AgentAnswer,
  type BuffersReading,
  hiddenBuffers,
  NO_BUFFERS,
  outputsOf,
} from '../core/fluentd/buffer-contents.ts';
import type { ChunkListing } from '../core/fluentd/chunk.ts';
import {
  CONFIG_PATH,
  PLUGINS_PATH,
  parseAgentIdentity,
  parsePlugins,
} from '../core/fluentd/monitor-agent.ts';
import type { Subject } from '../core/look/subject.ts';
import type { Host } from '../host.ts';

type Looks = Pick<Host, 'listChunks' | 'listBackups' | 'get'>;
type Where = Pick<Subject, 'conf' | 'putAsideBefore'>;

/** What can be seen of Fluentd's buffers: chunk files on disk, and what each worker's monitor_agent tells where it is asked. */
export async function readBuffers(
  host: Looks,
  { conf, putAsideBefore }: Where,
  ask: boolean,
): Promise<BuffersReading> {
  const hidden = hiddenBuffers(conf);
  if (conf === undefined) return { ...NO_BUFFERS, hidden, none: false, asked: ask };
  const disk = await Promise.all(conf.buffers.map(({ chunkGlobs }) => lookOnDisk(host, chunkGlobs)));
  const answers = await Promise.all(ask ? conf.monitorAgents.map((agent) => askAgent(host, agent)) : []);
  const agents = new Map(
    answers.flatMap(({ worker, identity }) => (identity ? [[worker, identity] as const] : [])),
  );
  if (conf.buffers.length === 0 && conf.complete) return { ...NO_BUFFERS, agents, asked: ask };
  const outputs = outputsOf(
    conf.buffers,
    disk.map(({ listing }) => listing),
    answers,
  );
  return {
    outputs,
    silent: [...disk, ...answers].flatMap(({ silent }) => silent ?? []),
    hidden,
    agents,
    ...(await listAside(host, conf.backupGlobs, putAsideBefore)),
    full: outputs.filter((_, index) => disk[index]?.listing?.isFull === true).map(({ name }) => name),
    none: false,
    asked: ask,
  };
}

/** The chunks that are put aside by now; what cannot be listed counts as new later. */
export async function listPutAside(
  host: Pick<Host, 'listBackups'>,
  { conf }: Pick<Subject, 'conf'>,
): Promise<ReadonlySet<string>> {
  const chunks = await host.listBackups(conf?.backupGlobs ?? []).catch(() => []);
  return new Set(chunks.map(({ path }) => path));
}

async function listAside(
  host: Looks,
  globs: readonly string[],
  before?: ReadonlySet<string>,
): Promise<Pick<BuffersReading, 'backups' | 'backupsUnknown'>> {
  try {
    const backups = await host.listBackups(globs);
    return { backups: before ? backups.filter(({ path }) => !before.has(path)) : backups };
  } catch (error) {
    const why = `the chunks that Fluentd puts aside, for they cannot be listed (${(error as Error).message})`;
    return { backups: [], backupsUnknown: why };
  }
}

interface OnDisk {
  readonly listing: ChunkListing | undefined;
  readonly silent?: string;
}

async function lookOnDisk(host: Looks, globs: readonly string[]): Promise<OnDisk> {
  if (globs.length === 0) return { listing: undefined };
  try {
    return { listing: await host.listChunks(globs) };
  } catch (error) {
    const silent = `the chunks on disk cannot be listed (${(error as Error).message})`;
    return { listing: { chunks: [], isThere: true, isFull: false }, silent };
  }
}

interface Answer extends AgentAnswer {
  readonly identity?: string | undefined;
  readonly silent?: string;
}

async function askAgent(host: Looks, { bind, port, worker, isAdded }: MonitorAgent): Promise<Answer> {
  const endpoint = { host: reachable(bind), port };
  const [plugins, config] = await Promise.all([
    host.get(endpoint, PLUGINS_PATH),
    host.get(endpoint, CONFIG_PATH),
  ]);
  const outputs = plugins === undefined ? undefined : parsePlugins(plugins);
  // Whether Fluentd has taken an agent that was added is not known until it answers.
  if (outputs === undefined && isAdded) return { worker, outputs: [] };
  if (outputs === undefined)
    return { worker, outputs: [], silent: `no answer from monitor_agent at ${bind}:${port}` };
  return { worker, outputs, identity: config === undefined ? undefined : parseAgentIdentity(config) };
}

/** To listen on every address is to listen on loopback too, which the containers of a Pod share. */
export function reachable(bind: string): string {
  if (bind === '0.0.0.0') return '127.0.0.1';
  return bind === '::' ? '::1' : bind;
}
