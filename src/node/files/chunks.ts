import { statSync } from 'node:fs';
import type { Chunk } from '../../core/fluentd/buffers.ts';
import { inPortions, toBytes } from './files.ts';
import { rubyGlob } from './walk.ts';

/** Staged `b` or queued `q`, then 32 hex digits (lib/fluent/plugin/buffer/file_chunk.rb); the `.meta` beside it is no chunk. */
const CHUNK = /\.[bq][0-9a-f]{32}\.[^/]*$/;

/** The chunk files that the globs name, each once. */
export async function listChunks(globs: readonly string[]): Promise<readonly Chunk[]> {
  const found = await Promise.all(globs.map((glob) => rubyGlob(glob)));
  const paths = [...new Set(found.flat())].filter((path) => CHUNK.test(path) && !path.endsWith('.meta'));
  const chunks: Chunk[] = [];
  await inPortions(paths, (path) => chunks.push({ path, size: sizeOf(path) }));
  return chunks;
}

/** Renamed from staged to queued in this very moment, or just delivered: the next look knows. */
function sizeOf(path: string): number {
  try {
    return statSync(toBytes(path), { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}
