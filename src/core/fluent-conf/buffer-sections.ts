import type { Params } from './params.ts';

/** The buffer of one output in one worker. */
export interface BufferConf {
  /** The `@id` of its output as it stands in the file, or its output and its match. */
  readonly name: string;
  /** `memory`, `file`, `file_single`, or what a plugin brings. */
  readonly type: string;
  /** Where its chunks lie: `*` stands for `b` (staged) or `q` (queued) and 32 hex digits, in file_single after a key. */
  readonly chunkGlobs: readonly string[];
  readonly flushAtShutdown: boolean;
  readonly overflowAction: string;
}

/** The worker that an output runs in. */
export interface Surroundings {
  readonly rootDir: string | undefined;
  readonly workerId: number;
  /** The section runs in more than one worker. */
  readonly shared: boolean;
}

interface Around extends Surroundings {
  /** The pattern of the `<match>` as it stands in the file. */
  readonly match: string;
}

/** Outputs whose buffer is a file by default (`config_set_default` in `lib/fluent/plugin/out_*.rb`). */
const IN_FILES = new Set(['file', 'buffer']);

/** Outputs that pass events on, or write them at once where no `<buffer>` is given; the rest of the world buffers. */
const UNBUFFERED = new Set(
  (
    'copy roundrobin relabel stdout null stream prometheus rewrite_tag_filter retag route forest record_reformer ' +
    'rewrite add detect_exceptions grepcounter flowcounter datacounter numeric_counter parser grep count label_router'
  ).split(' '),
);

/** The names of a buffer's parameters where no `<buffer>` is given (`lib/fluent/plugin_helper/compat_parameters.rb`). */
const OLD_NAMES: Readonly<Record<string, string>> = {
  path: 'buffer_path',
  overflow_action: 'buffer_queue_full_action',
  retry_max_times: 'retry_limit',
  retry_forever: 'disable_retry_limit',
  chunk_limit_size: 'buffer_chunk_limit',
};

/** The buffers of one `<match>` or `<store>`, with those of the stores in it. */
export function buffersOf(params: Params, around: Around): BufferConf[] {
  const stores = params.sections('store');
  for (const store of stores) if (store.arg() === 'ignore_error') store.warn(IGNORED_ERRORS);
  if (stores.length > 0) return stores.flatMap((store) => buffersOf(store, around));
  const output = params.text('@type', 'type') ?? '';
  const [section] = params.sections('buffer');
  return section === undefined && UNBUFFERED.has(output)
    ? []
    : [bufferOf({ params, section, output }, around)];
}

/** Where Fluentd keeps all that it reads with `with_source_only`, until SIGWINCH (`lib/fluent/source_only_buffer_agent.rb`). */
export function sourceOnlyBuffer(system: Params, directory: string, around: Surroundings): BufferConf {
  const name = 'with_source_only';
  system.warn(
    `${name} keeps all lines back until Fluentd gets SIGWINCH: send it before the Job ends, or remove ${name}`,
  );
  const [section] = system.sections('source_only_buffer');
  const buffer = bufferOf({ params: system, section, output: 'buffer' }, { ...around, match: '' });
  const path = section?.text('path') ?? joinPath([directory, 'source-only-buffer', '*']);
  return { ...buffer, name, chunkGlobs: chunkGlobs({ type: buffer.type, path }, around) };
}

interface Output {
  readonly params: Params;
  readonly section: Params | undefined;
  readonly output: string;
}

function bufferOf(written: Output, around: Around): BufferConf {
  const { params, section, output } = written;
  const settings = settingsOf(written);
  const own = section ?? params;
  for (const [loses, text] of OF_BUFFER) if (loses(settings)) own.warn(text);
  for (const [loses, text] of OF_OUTPUT) if (loses(settings)) params.warn(text);
  const { type, flushAtShutdown, overflowAction } = settings;
  const id = params.text('@id', 'id');
  const path = settings.path ?? ownPath({ params, output, id }, around);
  return {
    name: params.written('@id', 'id') ?? `${output} of <match ${around.match}>`,
    type,
    chunkGlobs: chunkGlobs({ type, id, path, suffix: section?.text('path_suffix') }, around),
    flushAtShutdown,
    overflowAction,
  };
}

/** What is asked of an output and of its buffer. */
type Settings = ReturnType<typeof settingsOf>;

function settingsOf({ params, section, output }: Output) {
  const own = section ?? params;
  const aside = own.aside();
  const named = (name: string) => (section === undefined ? (OLD_NAMES[name] ?? name) : name);
  const written = section === undefined ? params.text('buffer_type') : section.text('@type', 'type');
  const type = written ?? (IN_FILES.has(output) ? 'file' : 'memory');
  const overflow = own.text(named('overflow_action')) ?? 'exception';
  return {
    output,
    type,
    path: own.text(named('path')),
    // out_null has a default of its own (`lib/fluent/plugin/out_null.rb`); `persistent?` of the others is false in memory.
    flushAtShutdown: own.bool('flush_at_shutdown') ?? (output === 'null' || type === 'memory'),
    overflowAction: overflow === 'exception' ? 'throw_exception' : overflow,
    hasSecondary: params.sections('secondary').length > 0,
    requireAckResponse: params.aside().bool('require_ack_response') ?? false,
    chunkLimitSize: aside.size(named('chunk_limit_size')),
    retryLimit: aside.integer(named('retry_max_times')) ?? aside.time('retry_timeout'),
    retryForever: aside.bool(named('retry_forever')) ?? false,
    disableChunkBackup: aside.bool('disable_chunk_backup') ?? false,
  };
}

/** out_file keeps its buffer under its own `path` (`configure` in out_file.rb). */
function ownPath(
  { params, output, id }: Omit<Output, 'section'> & { readonly id: string | undefined },
  { rootDir }: Surroundings,
): string | undefined {
  const hasPlace = id !== undefined && rootDir !== undefined;
  return output === 'file' && !hasPlace ? params.text('path') : undefined;
}

interface Located {
  readonly type: string;
  readonly path: string | undefined;
  readonly id?: string | undefined;
  readonly suffix?: string | undefined;
}

/** How `path` becomes the pattern of the chunk files: `configure` in buf_file.rb and buf_file_single.rb. */
function chunkGlobs({ type, id, path, suffix }: Located, around: Surroundings): string[] {
  const single = type === 'file_single';
  if (!single && type !== 'file') return [];
  const end = single ? '.buf' : (suffix ?? '.log');
  const name = `${single ? 'fsb' : 'buffer'}.*${end}`;
  if (path === undefined) {
    if (around.rootDir === undefined || id === undefined) return [];
    const parts = [around.rootDir, `worker${around.workerId}`, id, 'buffer'];
    return [joinPath([...parts.map(literally), name])];
  }
  const whole = literally(path);
  if (whole.includes('.*')) return [fileGlob(whole, end, single)];
  return [...directoryGlobs(whole, name, around), `${whole}.*${end}`];
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

/** Ruby's File.join: one slash where two parts meet. */
function joinPath(parts: readonly string[]): string {
  return parts.reduce((path, part) => `${path.replace(/(?<!\/)\/+$/, '')}/${part.replace(/^\/+/, '')}`);
}

const SMALL_CHUNK = 64 * 1024;

type Losing = (settings: Settings) => unknown;

/** What loses lines, and what to do about it: in this section, or in its `<buffer>`. */
const OF_OUTPUT: readonly (readonly [Losing, string])[] = [
  [
    ({ output }) => output === 'exec_filter',
    'the command of out_exec_filter may hold lines back unseen, so the outcome will be unproven: ' +
      'let it write each line at once, and set flush_at_shutdown true in the buffers behind it',
  ],
  [
    ({ output, requireAckResponse }) => output === 'forward' && !requireAckResponse,
    'out_forward without require_ack_response may lose what is on its way when the receiver dies: ' +
      'set require_ack_response true',
  ],
];
const OF_BUFFER: readonly (readonly [Losing, string])[] = [
  [
    ({ overflowAction }) => overflowAction === 'drop_oldest_chunk',
    'overflow_action drop_oldest_chunk throws lines away when the buffer is full: ' +
      'use overflow_action block, so that in_tail waits',
  ],
  [
    ({ disableChunkBackup }) => disableChunkBackup,
    'disable_chunk_backup throws away what the destination refuses, without a trace: remove disable_chunk_backup',
  ],
  [
    ({ type, flushAtShutdown }) => type === 'memory' && !flushAtShutdown,
    'a memory buffer with flush_at_shutdown false is lost at the end: remove flush_at_shutdown',
  ],
  [
    ({ retryLimit, retryForever, hasSecondary }) =>
      retryLimit !== undefined && !retryForever && !hasSecondary,
    'a retry limit without <secondary> throws chunks away when it is reached: ' +
      'add a <secondary>, or set retry_forever true',
  ],
  [
    ({ chunkLimitSize = SMALL_CHUNK }) => chunkLimitSize < SMALL_CHUNK,
    'chunk_limit_size below 64k throws away every record that is larger than it: ' +
      'set it far above the longest line, or leave it out',
  ],
];
const IGNORED_ERRORS =
  '<store ignore_error> loses what this store cannot take, for example when its buffer is full: remove ignore_error';
