import type { Millis } from '../text/units.ts';
import type { Place } from './element.ts';
import { type Params, parseList } from './params.ts';
import { joinPath } from './ruby.ts';

/** The buffer of one output in one worker. */
export interface BufferConf {
  readonly place: Place;
  readonly id?: string | undefined;
  /** The output's `@type`. */
  readonly output: string;
  /** The pattern of the enclosing `<match>`. */
  readonly tag?: string | undefined;
  /** `memory`, `file`, `file_single`, or what a plugin brings. */
  readonly type: string;
  readonly path?: string | undefined;
  readonly pathSuffix?: string | undefined;
  /** Where its chunks lie: `*` stands for `b` (staged) or `q` (queued) and 32 hex digits, in file_single after a key. */
  readonly chunkGlobs: readonly string[];
  readonly flushAtShutdown: boolean;
  readonly flushMode: string;
  readonly flushInterval: Millis;
  readonly timekey?: Millis | undefined;
  readonly timekeyWait: Millis;
  readonly overflowAction: string;
  readonly worker: number;
  /** Fluentd's own log events go into it as well. */
  readonly takesOwnEvents: boolean;
  /** It throws chunks away after some retries: a retry limit is set, and no `<secondary>`. */
  readonly mayGiveUp: boolean;
}

/** What an output's buffer depends on beside its own section. */
export interface Surroundings {
  readonly tag: string | undefined;
  readonly rootDir: string | undefined;
  readonly workerId: number;
  /** The section runs in more than one worker. */
  readonly shared: boolean;
  readonly worker: number | undefined;
}

interface Defaults {
  readonly type?: string;
  readonly keys?: string;
  readonly timekey?: Millis;
  readonly flushMode?: string;
  readonly flushInterval?: Millis;
  readonly flushAtShutdown?: boolean;
}

const DAY = 86_400_000;

/** `config_set_default` in `lib/fluent/plugin/out_*.rb`. */
const DEFAULTS: ReadonlyMap<string, Defaults> = new Map([
  ['file', { type: 'file', keys: 'time', timekey: DAY }],
  ['buffer', { type: 'file', flushMode: 'interval', flushInterval: 10_000 }],
  ['exec', { keys: 'time', timekey: DAY }],
  ['exec_filter', { flushMode: 'interval', flushInterval: 1_000 }],
  ['null', { flushAtShutdown: true }],
]);

/** Outputs that pass events on, or write them at once where no `<buffer>` is given; the rest of the world buffers. */
const UNBUFFERED = new Set(
  (
    'copy roundrobin relabel stdout null stream prometheus rewrite_tag_filter retag route forest record_reformer ' +
    'rewrite add detect_exceptions grepcounter flowcounter datacounter numeric_counter parser grep count label_router'
  ).split(' '),
);

/** The buffers of one `<match>` or `<store>`, with those of the stores in it. */
export function buffersOf(params: Params, around: Surroundings): BufferConf[] {
  const stores = params.sections('store');
  if (stores.length > 0) return stores.flatMap((store) => buffersOf(store, around));
  const output = params.text('@type', 'type') ?? '';
  const [section] = params.sections('buffer');
  if (section === undefined && UNBUFFERED.has(output)) return [];
  const buffer = withOwnPath(readBuffer(params, section, output), params, around);
  warnOfLoss(section ?? params, buffer);
  return [
    {
      ...buffer,
      tag: around.tag,
      worker: around.workerId,
      takesOwnEvents: false,
      mayGiveUp: mayGiveUp(params, section),
      chunkGlobs: chunkGlobs(buffer, around),
    },
  ];
}

type OwnConf = Omit<BufferConf, 'tag' | 'worker' | 'chunkGlobs' | 'takesOwnEvents' | 'mayGiveUp'>;

function mayGiveUp(params: Params, section: Params | undefined): boolean {
  const isLimited = ['retry_max_times', 'retry_timeout'].some((name) => section?.text(name) !== undefined);
  return isLimited && section?.bool('retry_forever') !== true && params.sections('secondary').length === 0;
}

function readBuffer(params: Params, section: Params | undefined, output: string): OwnConf {
  const defaults = DEFAULTS.get(output) ?? {};
  const type = typeOf(params, section) ?? defaults.type ?? 'memory';
  return {
    place: (section ?? params).element.place,
    id: params.text('@id', 'id'),
    output,
    type,
    path: section === undefined ? params.text('buffer_path') : section.text('path'),
    pathSuffix: section?.text('path_suffix'),
    overflowAction: overflowAction(params, section),
    ...timing(params, section, defaults),
    flushAtShutdown:
      (section ?? params).bool('flush_at_shutdown') ?? defaults.flushAtShutdown ?? !isPersistent(type),
  };
}

/** out_file keeps its buffer under its own `path` (`configure` in out_file.rb). */
function withOwnPath(buffer: OwnConf, params: Params, { rootDir }: Surroundings): OwnConf {
  const hasPlace = buffer.path !== undefined || (buffer.id !== undefined && rootDir !== undefined);
  return buffer.output === 'file' && !hasPlace ? { ...buffer, path: params.text('path') } : buffer;
}

/** `persistent?` in `lib/fluent/plugin/buf_file.rb`; buf_memory has it false. */
function isPersistent(type: string): boolean {
  return type !== 'memory';
}

function typeOf(params: Params, section: Params | undefined): string | undefined {
  return section === undefined ? params.text('buffer_type') : section.text('@type', 'type');
}

function overflowAction(params: Params, section: Params | undefined): string {
  const written = section?.text('overflow_action') ?? params.text('buffer_queue_full_action');
  return written === undefined || written === 'exception' ? 'throw_exception' : written;
}

function timing(params: Params, section: Params | undefined, defaults: Defaults) {
  const keys = section?.arg() || (defaults.keys ?? '');
  const byTime = parseList(keys).includes('time');
  const timekey = section?.time('timekey') ?? defaults.timekey;
  const old = params.time('flush_interval');
  const mode = section?.text('flush_mode') ?? defaults.flushMode ?? 'default';
  const usual = byTime && old === undefined ? 'lazy' : 'interval';
  return {
    flushMode: mode === 'default' ? usual : mode,
    flushInterval: section?.time('flush_interval') ?? old ?? defaults.flushInterval ?? 60_000,
    timekey: byTime ? timekey : undefined,
    timekeyWait: section?.time('timekey_wait') ?? 600_000,
  };
}

/** How `path` becomes the pattern of the chunk files: `configure` in buf_file.rb and buf_file_single.rb. */
function chunkGlobs(buffer: OwnConf, around: Surroundings): string[] {
  const single = buffer.type === 'file_single';
  if (!single && buffer.type !== 'file') return [];
  const suffix = single ? '.buf' : (buffer.pathSuffix ?? '.log');
  const name = `${single ? 'fsb' : 'buffer'}.*${suffix}`;
  if (buffer.path === undefined) {
    if (around.rootDir === undefined || buffer.id === undefined) return [];
    const parts = [around.rootDir, `worker${around.workerId}`, buffer.id, 'buffer'];
    return [joinPath([...parts.map(literally), name])];
  }
  const path = literally(buffer.path);
  if (path.includes('.*')) return [fileGlob(path, suffix, single)];
  return [...directoryGlobs(path, name, around), `${path}.*${suffix}`];
}

/** Fluentd makes its chunks under the very name, also where out_file's `path` with its `${tag}` becomes the buffer's. */
function literally(path: string): string {
  return path.replace(/[\\[\]{}?]/g, '\\$&');
}

function directoryGlobs(path: string, name: string, { shared, workerId }: Surroundings): string[] {
  if (!shared) return [joinPath([path, name])];
  const own = joinPath([path, `worker${workerId}`, name]);
  return workerId === 0 ? [own, joinPath([path, name])] : [own];
}

function fileGlob(path: string, suffix: string, single: boolean): string {
  const [, directory = '', base = ''] = /^(.*\/)?([^/]*)$/.exec(path) ?? [];
  if (base.includes('.*.')) return single ? `${directory}fsb.*${suffix}` : path;
  return base.endsWith('.*') ? path + suffix : `${path}.*${suffix}`;
}

function warnOfLoss(params: Params, buffer: OwnConf): void {
  if (buffer.overflowAction === 'drop_oldest_chunk') {
    params.warn(
      'overflow_action drop_oldest_chunk throws lines away when the buffer is full: ' +
        'use overflow_action block, so that in_tail waits',
    );
  }
  if (buffer.type === 'memory' && !buffer.flushAtShutdown) {
    params.warn('a memory buffer with flush_at_shutdown false is lost at the end: remove flush_at_shutdown');
  }
}
