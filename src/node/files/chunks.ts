import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { type Chunk, type ChunkListing, chunkBirth, isChunk } from '../../core/fluentd/chunk.ts';
import { parseGlob } from '../../core/in-tail/path-glob.ts';
import type { PlaceOf } from './files.ts';
import { exists, inPortions, toBytes } from './files.ts';
import { rubyGlob } from './walk.ts';

/** A chunk file and its `.meta` take a page each: with less than this free the next one fails. */
const ROOM_FOR_A_CHUNK = 16 * 1024;

/** The chunks of one buffer. The first of its globs stands for the directory that Fluentd makes when it starts. */
export async function listChunks(globs: readonly string[], placeOf: PlaceOf): Promise<ChunkListing> {
  const chunks = (await listBackups(globs, placeOf)).filter(({ path }) => isChunk(path));
  const directory = parseGlob(globs[0] ?? '')[0]?.base ?? '';
  const isThere = chunks.length > 0 || (await exists(directory, placeOf));
  return { chunks, isThere, isFull: isThere && (await isFull(placeOf(directory))) };
}

/** The files at the globs, each once, with the time since Fluentd began them as chunks. */
export async function listBackups(globs: readonly string[], placeOf: PlaceOf): Promise<readonly Chunk[]> {
  const found = await Promise.all(globs.map((glob) => rubyGlob(glob, { placeOf })));
  const now = Date.now();
  const chunks: Chunk[] = [];
  await inPortions(new Set(found.flat()), (path) =>
    chunks.push({ path, size: sizeOf(placeOf(path)), age: Math.max(0, now - (chunkBirth(path) ?? now)) }),
  );
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

async function isFull(directory: string): Promise<boolean> {
  const disk = await statfs(directory).catch(() => undefined);
  return disk !== undefined && disk.bavail * disk.bsize < ROOM_FOR_A_CHUNK;
}
