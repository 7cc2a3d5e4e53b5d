import type { Place } from './element.ts';
import type { Params } from './params.ts';
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
  /** Where its chunks lie: `*` stands for `b` (staged) or `q` (queued) and 32 hex digits, in file_single after a key. */
  readonly chunkGlobs: readonly string[];
  readonly flushAtShutdown: boolean;
  readonly overflowAction: string;
}

/** What an output's buffer depends on beside its own section. */
export interface Surroundings {
  readonly tag: string | undefined;
  readonly rootDir: string | undefined;
  readonly workerId: number;
  /** The section runs in more than one worker. */
  readonly shared: boolean;
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
  '@type': 'buffer_type',
  path: 'buffer_path',
  overflow_action: 'buffer_queue_full_action',
};

/** The buffers of one `<match>` or `<store>`, with those of the stores in it. */
export function buffersOf(params: Params, around: Surroundings): BufferConf[] {
  const stores = params.sections('store');
  if (stores.length > 0) return stores.flatMap((store) => buffersOf(store, around));
  const output = params.text('@type', 'type') ?? '';
  const [section] = params.sections('buffer');
  return section === undefined && UNBUFFERED.has(output)
    ? []
    : [bufferOf({ params, section, output }, around)];
}

interface Output {
  readonly params: Params;
  readonly section: Params | undefined;
  readonly output: string;
}

function bufferOf({ params, section, output }: Output, around: Surroundings): BufferConf {
  const own = section ?? params;
  const named = (name: string) => (section === undefined ? (OLD_NAMES[name] ?? name) : name);
  const type = own.text(named('@type'), 'type') ?? (IN_FILES.has(output) ? 'file' : 'memory');
  const buffer = {
    place: own.element.place,
    id: params.text('@id', 'id'),
    output,
    tag: around.tag,
    type,
    // out_null has a default of its own (`lib/fluent/plugin/out_null.rb`); `persistent?` of the others is false in memory.
    flushAtShutdown: own.bool('flush_at_shutdown') ?? (output === 'null' || type === 'memory'),
    overflowAction: overflowAction(own.text(named('overflow_action'))),
  };
  warnOfLoss(own, buffer);
  const path = own.text(named('path')) ?? ownPath(buffer, params, around);
  return {
    ...buffer,
    chunkGlobs: chunkGlobs({ ...buffer, path, suffix: section?.text('path_suffix') }, around),
  };
}

type OwnConf = Omit<BufferConf, 'chunkGlobs'>;

/** out_file keeps its buffer under its own `path` (`configure` in out_file.rb). */
function ownPath({ output, id }: OwnConf, params: Params, { rootDir }: Surroundings): string | undefined {
  const hasPlace = id !== undefined && rootDir !== undefined;
  return output === 'file' && !hasPlace ? params.text('path') : undefined;
}

function overflowAction(written: string | undefined): string {
  return written === undefined || written === 'exception' ? 'throw_exception' : written;
}

interface Located extends OwnConf {
  readonly path: string | undefined;
  readonly suffix: string | undefined;
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
