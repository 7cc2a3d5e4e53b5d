import { statSync } from 'node:fs';
import { type Chunk, type ChunkListing, isChunk } from '../../core/fluentd/buffers.ts';
import { parseGlob } from '../../core/in-tail/path-glob.ts';
import type { PlaceOf } from './files.ts';
import { exists, inPortions, toBytes } from './files.ts';
import { rubyGlob } from './walk.ts';

/** The chunks of one buffer. The first of its globs stands for the directory that Fluentd makes when it starts. */
export async function listChunks(globs: readonly string[], placeOf: PlaceOf): Promise<ChunkListing> {
  const chunks = (await listBackups(globs, placeOf)).filter(({ path }) => isChunk(path));
  const directory = parseGlob(globs[0] ?? '')[0]?.base ?? '';
  const isThere = chunks.length > 0 || (await exists(directory, placeOf));
  return { chunks, isThere };
}

/** The files at the globs, each once. */
export async function listBackups(globs: readonly string[], placeOf: PlaceOf): Promise<readonly Chunk[]> {
  const found = await Promise.all(globs.map((glob) => rubyGlob(glob, { placeOf })));
  const chunks: Chunk[] = [];
  await inPortions(new Set(found.flat()), (path) => chunks.push({ path, size: sizeOf(placeOf(path)) }));
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
