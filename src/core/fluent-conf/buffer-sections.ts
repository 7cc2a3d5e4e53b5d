import { writtenText } from './element.ts';
import type { Params } from './params.ts';
import { joinPath } from './ruby.ts';

export interface BufferConf {
  /** The `@id` of the output as written in the file, or `TYPE of <match PATTERN>`. */
  readonly name: string;
  /**
   * Globs of its chunk files: `*` is `b` (staged) or `q` (queued) and 32 hex digits; in file_single a key comes first. Empty if the buffer
   * is in memory, or in a directory that neither `path` nor `root_dir` names.
   */
  readonly chunkGlobs: readonly string[];
}

export interface Surroundings {
  readonly rootDir: string | undefined;
  readonly workerId: number;
  /** The section runs in more than one worker. */
  readonly shared: boolean;
}

/** Outputs that have no buffer unless a `<buffer>` is given. All others have one. */
const UNBUFFERED = new Set(
  (
    'copy roundrobin relabel stdout null stream prometheus rewrite_tag_filter retag route forest record_reformer ' +
    'rewrite add detect_exceptions grepcounter flowcounter datacounter numeric_counter parser grep count label_router'
  ).split(' '),
);

/** The buffers of all outputs below a section. */
export function buffersIn(params: Params, around: Surroundings, match = '**'): BufferConf[] {
  return params.sections('label', 'match', 'store').flatMap((section) => {
    const { name, arg } = section.element;
    const pattern = name === 'match' ? writtenText(arg) || match : match;
    const own = name === 'label' ? [] : bufferOf(section, around, pattern);
    return [...own, ...buffersIn(section, around, pattern)];
  });
}

function bufferOf(output: Params, around: Surroundings, match: string): BufferConf[] {
  const [buffer] = output.sections('buffer');
  const type = output.text('@type') ?? '';
  if (buffer === undefined && UNBUFFERED.has(type)) return [];
  const name = output.written('@id') ?? `${type} of <match ${match}>`;
  return [{ name, chunkGlobs: buffer === undefined ? [] : chunkGlobs(buffer, output, around) }];
}

/** How `path` becomes the pattern of the chunk files: `configure` in buf_file.rb and buf_file_single.rb. */
function chunkGlobs(buffer: Params, output: Params, around: Surroundings): string[] {
  const path = buffer.text('path');
  // Only a buffer in files has a path: out_file and out_buffer name no type.
  const type = buffer.text('@type') ?? (path === undefined ? 'memory' : 'file');
  const single = type === 'file_single';
  if (!single && type !== 'file') return [];
  const end = single ? '.buf' : (buffer.text('path_suffix') ?? '.log');
  const name = `${single ? 'fsb' : 'buffer'}.*${end}`;
  if (path === undefined) {
    const id = output.text('@id');
    if (around.rootDir === undefined || id === undefined) return [];
    const parts = [around.rootDir, `worker${around.workerId}`, id, 'buffer'];
    return [joinPath([...parts.map(literally), name])];
  }
  const whole = literally(path);
  if (whole.includes('.*')) return [fileGlob(whole, end, single)];
  return [...directoryGlobs(whole, name, around), `${whole}.*${end}`];
}

/** Escapes the path, because Fluentd takes it literally. */
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
