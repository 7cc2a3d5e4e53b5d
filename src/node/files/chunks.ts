import { statSync } from 'node:fs';
import { type Chunk, type ChunkListing, chunkId } from '../../core/fluentd/buffers.ts';
import { parseGlob } from '../../core/in-tail/path-glob.ts';
import { exists, inPortions, type PlaceOf, toBytes, unlessItFails } from './files.ts';
import { rubyGlob } from './walk.ts';

/** Lists twice, because one listing misses a chunk that Fluentd renames from staged to queued meanwhile (file_chunk.rb, enqueued!). */
export async function listChunks(globs: readonly string[], placeOf: PlaceOf): Promise<ChunkListing> {
  const byId = new Map<string, string>();
  for (const glob of [...globs, ...globs])
    for (const path of await rubyGlob(glob, { placeOf })) byId.set(chunkId(path) ?? path, path);
  const chunks: Chunk[] = [];
  await inPortions(byId.values(), (path) => chunks.push({ path, size: sizeOf(placeOf(path)) }));
  const directory = parseGlob(globs[0] ?? '')[0]?.base ?? '';
  const isThere = chunks.length > 0 || (await exists(directory, placeOf));
  return { chunks, isThere };
}

/** 0 for a chunk that was just renamed or delivered. The next look sees the change. */
function sizeOf(path: string): number {
  return unlessItFails(() => statSync(toBytes(path), { throwIfNoEntry: false }))?.size ?? 0;
}
