import type { BufferConf } from '../fluent-conf/buffer-sections.ts';
import type { ConfFacts } from '../fluent-conf/facts.ts';
import { counted, formatBytes, type Millis } from '../text/units.ts';
import type { Chunk, ChunkListing } from './chunk.ts';
import type { MonitoredOutput } from './monitor-agent.ts';

/** What can be seen of one output's buffer in one look. */
export interface OutputReading {
  /** Tells it from every other output of the same Fluentd. */
  readonly key: string;
  /** Its `@id`, or `UNNAMED`; undefined: an `@id` that could not be evaluated. */
  readonly id: string | undefined;
  /** For people: `@id`, or `forward of <match app>`. */
  readonly name: string;
  /** The worker that it belongs to. */
  readonly worker: number;
  /** Its chunks on disk; undefined: they are in memory, or where this process cannot see them. */
  readonly onDisk: readonly Chunk[] | undefined;
  /** What the monitor_agent of its worker tells; undefined: nothing. */
  readonly told: MonitoredOutput | undefined;
  /** What it holds is gone when Fluentd is. */
  readonly inMemory: boolean;
  /** Fluentd's own log events go into it as well. */
  readonly takesOwnEvents: boolean;
  /** When it throws away what it cannot send, and only a monitor_agent shows that; undefined: never. */
  readonly retryLimit: RetryLimit | undefined;
  /** It throws the oldest chunk away when it is full, and only Fluentd 1.20 counts that. */
  readonly mayDrop: boolean;
  /** What it has sent may still be held, or be lost, by a command: out_exec_filter. */
  readonly isPipe: boolean;
}

/** Fluentd calls an output without `@id` `object:` and a number (`plugin_id` in lib/fluent/plugin_id.rb). */
export const UNNAMED = 'object:';

const PIPE = 'exec_filter';

/** After so many retries, or so long, whichever comes first. */
export interface RetryLimit {
  readonly times: number;
  readonly timeout: Millis;
  /** So many chunks are sent at a time. */
  readonly threads: number;
}

/** How much is held in buffers. */
export interface Held {
  readonly chunks: number;
  readonly bytes: number;
}

/** What can be seen of Fluentd's buffers in one look. */
export interface BuffersReading {
  readonly outputs: readonly OutputReading[];
  /** Where to look is known, but there was no answer. */
  readonly silent: readonly string[];
  /** Why there may be buffers that are not known at all. */
  readonly hidden: readonly string[];
  /** The process that each worker's monitor_agent belongs to: its pid and its supervisor's. */
  readonly agents: ReadonlyMap<number, string>;
  /** Chunks that Fluentd has given up and put aside. */
  readonly backups: readonly Chunk[];
  /** That they cannot be listed, and why. */
  readonly backupsUnknown?: string | undefined;
  /** Buffers whose disk is full, by name. */
  readonly full: readonly string[];
  /** The configuration is known, whole, and no output in it has a buffer. */
  readonly none: boolean;
  /** The monitor_agents were asked. */
  readonly asked: boolean;
}

export const NO_BUFFERS: BuffersReading = {
  outputs: [],
  silent: [],
  hidden: [],
  agents: new Map(),
  backups: [],
  full: [],
  none: true,
  asked: true,
};

export const NOTHING_HELD: Held = { chunks: 0, bytes: 0 };

/** What one worker's monitor_agent answered. */
export interface AgentAnswer {
  readonly worker: number;
  readonly outputs: readonly MonitoredOutput[];
}

/**
 * Brings together what fluent.conf says of each buffer, what lies on disk, and what the monitor_agents tell. `listings`: by buffer, in
 * the order of `buffers`. An output that has no `@id` is known by its type and its place in the order, which both sides keep.
 */
export function outputsOf(
  buffers: readonly BufferConf[],
  listings: readonly (ChunkListing | undefined)[],
  answers: readonly AgentAnswer[],
): readonly OutputReading[] {
  const left = answers.map(({ worker, outputs }) => ({ worker, outputs: [...outputs] }));
  const isShared = new Set(buffers.map(({ worker }) => worker)).size > 1;
  const known = buffers.map((buffer, index): OutputReading => {
    const told = takeFrom(left.find(({ worker }) => worker === buffer.worker)?.outputs ?? [], buffer);
    const listing = listings[index];
    const where = isShared ? ` (worker ${buffer.worker})` : '';
    return {
      key: `${buffer.worker} ${buffer.id ?? `#${index}`}`,
      id: buffer.isNamed ? buffer.id : UNNAMED,
      name: `${buffer.name}${where}`,
      worker: buffer.worker,
      onDisk: listing?.isThere === true ? listing.chunks : undefined,
      told,
      inMemory: buffer.chunkGlobs.length === 0,
      takesOwnEvents: buffer.takesOwnEvents,
      retryLimit: retryLimitOf(buffer),
      mayDrop: buffer.overflowAction === 'drop_oldest_chunk',
      isPipe: buffer.output === PIPE,
    };
  });
  const others = left.flatMap(({ worker, outputs }) => outputs.map((told) => unknownOutput(worker, told)));
  return [...known, ...others];
}

/** A retry limit is set, and no `<secondary>` takes what is given up. */
function retryLimitOf(buffer: BufferConf): RetryLimit | undefined {
  const { retryMaxTimes, retryTimeout, retryForever, hasSecondary, flushThreads } = buffer;
  if ((retryMaxTimes ?? retryTimeout) === undefined || retryForever || hasSecondary) return undefined;
  return {
    times: retryMaxTimes ?? Number.POSITIVE_INFINITY,
    timeout: retryTimeout ?? Number.POSITIVE_INFINITY,
    threads: Math.max(1, flushThreads),
  };
}

function takeFrom(outputs: MonitoredOutput[], { id, output }: BufferConf): MonitoredOutput | undefined {
  const isMeant = (one: MonitoredOutput) =>
    id === undefined ? one.type === output && one.id.startsWith(UNNAMED) : one.id === id;
  const at = outputs.findIndex(isMeant);
  return at === -1 ? undefined : outputs.splice(at, 1)[0];
}

function unknownOutput(worker: number, told: MonitoredOutput): OutputReading {
  const name = told.id.startsWith(UNNAMED) ? `an output of @type ${told.type}` : told.id;
  const key = `${worker} ${told.id}`;
  return {
    key,
    id: told.id,
    name,
    worker,
    onDisk: undefined,
    told,
    inMemory: true,
    takesOwnEvents: false,
    retryLimit: undefined,
    mayDrop: false,
    isPipe: told.type === PIPE,
  };
}

/** The buffers that nobody can see, each with its name. */
export function unseenIn({ outputs, hidden }: BuffersReading): readonly string[] {
  return [...hidden, ...outputs.filter((output) => !isSeen(output)).map(nameOfUnseen)];
}

function nameOfUnseen({ name, onDisk, inMemory, mayDrop, isPipe }: OutputReading): string {
  if (isPipe) return `${name} (its command may still hold lines)`;
  if (mayDrop) return `${name} (it throws chunks away when it is full, and only Fluentd 1.20 tells how many)`;
  if (onDisk !== undefined) return `${name} (it may give chunks up after some retries)`;
  return `${name} (${inMemory ? 'its buffer is in memory' : 'the directory of its buffer is not here'})`;
}

/** Whether somebody can see what became of each of its chunks. */
function isSeen({ told, onDisk, retryLimit, mayDrop, isPipe }: OutputReading): boolean {
  if (isPipe) return false;
  if (mayDrop) return told?.dropped !== undefined;
  return told !== undefined || (onDisk !== undefined && retryLimit === undefined);
}

/** The buffers whose delivery will not be seen, by what is known before the first look; `conf` undefined: none is known. */
export function unseenByConf(conf: ConfFacts | undefined): readonly string[] {
  const blind = buffersWithoutAgent(conf).filter(
    (buffer) => buffer.chunkGlobs.length === 0 || retryLimitOf(buffer) !== undefined,
  );
  return [...hiddenBuffers(conf), ...blind.map(({ name }) => name)];
}

/** The buffers of workers that have no monitor_agent. */
export function buffersWithoutAgent(conf: ConfFacts | undefined): readonly BufferConf[] {
  const covered = new Set(conf?.monitorAgents.map(({ worker }) => worker));
  return (conf?.buffers ?? []).filter(({ worker }) => !covered.has(worker));
}

/** Why there may be buffers that fluent.conf does not tell of; `conf` undefined: none is known. */
export function hiddenBuffers(
  conf: Pick<ConfFacts, 'complete' | 'monitorAgents'> | undefined,
): readonly string[] {
  if (conf === undefined) return ['all buffers: no fluent.conf is known'];
  if (conf.complete || conf.monitorAgents.length > 0) return [];
  return ['buffers in the part of fluent.conf that posidle cannot evaluate'];
}

/** What one output holds. A chunk on disk is also counted by the monitor_agent, so the larger figure of the two holds. */
export function heldBy({ onDisk = [], told }: OutputReading): Held {
  const size = onDisk.reduce((sum, chunk) => sum + chunk.size, 0);
  return { chunks: Math.max(onDisk.length, told?.chunks ?? 0), bytes: Math.max(size, told?.bytes ?? 0) };
}

/** What all outputs hold. */
export function heldIn(buffers: BuffersReading | undefined): Held {
  return sumOf((buffers?.outputs ?? []).map(heldBy));
}

export function sumOf(all: readonly Held[]): Held {
  const add = (sum: Held, { chunks, bytes }: Held) => ({
    chunks: sum.chunks + chunks,
    bytes: sum.bytes + bytes,
  });
  return all.reduce(add, NOTHING_HELD);
}

/** `3 chunks (12.4 MiB)`. */
export function describeHeld({ chunks, bytes }: Held): string {
  return `${counted(chunks, 'chunk')} (${formatBytes(bytes)})`;
}

/** An output that retries gives up at once when it is told to stop (output.rb, force_flush). */
export function isRetrying({ outputs }: BuffersReading): boolean {
  return outputs.some(({ told }) => told?.retrying === true);
}
