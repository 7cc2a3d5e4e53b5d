import type { Params } from './params.ts';
import { joinPath } from './ruby.ts';

export interface BufferConf {
  /** The `@id` of the output as written in the file, or `TYPE of <match PATTERN>`. */
  readonly name: string;
  /** `memory`, `file`, `file_single`, or the type of a buffer plugin. */
  readonly type: string;
  /** Globs of its chunk files. `*` is `b` (staged) or `q` (queued) and 32 hex digits; in file_single a key comes first. */
  readonly chunkGlobs: readonly string[];
}

export interface Surroundings {
  readonly rootDir: string | undefined;
  readonly workerId: number;
  /** The section runs in more than one worker. */
  readonly shared: boolean;
}

interface Around extends Surroundings {
  readonly match: string;
}

/** Outputs whose buffer is a file by default (`config_set_default` in `lib/fluent/plugin/out_*.rb`). */
const IN_FILES = new Set(['file', 'buffer']);

/** Outputs that have no buffer unless a `<buffer>` is given. All others have one. */
const UNBUFFERED = new Set(
  (
    'copy roundrobin relabel stdout null stream prometheus rewrite_tag_filter retag route forest record_reformer ' +
    'rewrite add detect_exceptions grepcounter flowcounter datacounter numeric_counter parser grep count label_router'
  ).split(' '),
);

/** The buffers of one `<match>` or `<store>`, including its nested stores. */
export function buffersOf(params: Params, around: Around): BufferConf[] {
  const stores = params.sections('store');
  if (stores.length > 0) return stores.flatMap((store) => buffersOf(store, around));
  const output = params.text('@type', 'type') ?? '';
  const [section] = params.sections('buffer');
  if (section === undefined && UNBUFFERED.has(output)) return [];
  // Without a `<buffer>` section the old parameters count (`lib/fluent/plugin_helper/compat_parameters.rb`).
  const written = section === undefined ? params.text('buffer_type') : section.text('@type', 'type');
  const named = section === undefined ? params.text('buffer_path') : section.text('path');
  const type = written ?? (IN_FILES.has(output) ? 'file' : 'memory');
  const id = params.text('@id', 'id');
  // out_file keeps its buffer under its own `path` (`configure` in out_file.rb).
  const isInOwn = output === 'file' && (id === undefined || around.rootDir === undefined);
  const path = named ?? (isInOwn ? params.text('path') : undefined);
  const name = params.written('@id', 'id') ?? `${output} of <match ${around.match}>`;
  return [
    { name, type, chunkGlobs: chunkGlobs({ type, id, path, suffix: section?.text('path_suffix') }, around) },
  ];
}

type Located = Readonly<Record<'type' | 'id' | 'path' | 'suffix', string | undefined>>;

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

/** Escapes the path, because Fluentd takes it literally, even out_file's `path` with `${tag}`. */
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
