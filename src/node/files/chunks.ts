import type { Chunk } from '../../core/fluentd/buffers.ts';
import { statFiles } from './files.ts';
import { rubyGlob } from './walk.ts';

/** Staged `b` or queued `q`, then 32 hex digits (lib/fluent/plugin/buffer/file_chunk.rb); the `.meta` beside it is no chunk. */
const CHUNK = /\.[bq][0-9a-f]{32}\.[^/]*$/;

/** The chunk files that the globs name, each once. */
export async function listChunks(globs: readonly string[]): Promise<readonly Chunk[]> {
  const found = await Promise.all(globs.map((glob) => rubyGlob(glob)));
  const paths = [...new Set(found.flat())].filter((path) => CHUNK.test(path) && !path.endsWith('.meta'));
  const stats = await statFiles(paths);
  return paths.flatMap((path, index) => {
    const stat = stats[index];
    // Renamed from staged to queued in this very moment, or just delivered: the next look knows.
    return [{ path, size: stat === undefined || stat instanceof Error ? 0 : stat.size }];
  });
}
