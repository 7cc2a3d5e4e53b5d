/** A chunk file on disk. */
export interface Chunk {
  readonly path: string;
  readonly size: number;
  /** How long ago Fluentd began it, in milliseconds. */
  readonly age: number;
}

/** What one look finds of the chunks of one buffer. */
export interface ChunkListing {
  readonly chunks: readonly Chunk[];
  /** The buffer's directory can be seen. Fluentd makes it when it starts. */
  readonly isThere: boolean;
  /** Its disk has no room for another chunk. */
  readonly isFull: boolean;
}

/** Staged `b` or queued `q`, then 32 hex digits (lib/fluent/plugin/buffer/file_chunk.rb); the `.meta` beside it is no chunk. */
const NAME = /\.[bq]([0-9a-f]{32})\.[^/]*$/;

export function isChunk(path: string): boolean {
  return NAME.test(path) && !path.endsWith('.meta');
}

/** When Fluentd began a chunk, by its clock, in milliseconds: the id begins with microseconds in 52 bits (lib/fluent/unique_id.rb). */
export function chunkBirth(path: string): number | undefined {
  const id = NAME.exec(path)?.[1];
  return id === undefined ? undefined : Number.parseInt(id.slice(0, 13), 16) / 1_000;
}
