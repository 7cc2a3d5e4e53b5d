/** A chunk file on disk. */
export interface Chunk {
  readonly path: string;
  readonly size: number;
}

/** What one look finds of the chunks of one buffer. */
export interface ChunkListing {
  readonly chunks: readonly Chunk[];
  /** The buffer's directory can be seen. Fluentd makes it when it starts. */
  readonly isThere: boolean;
}

/** Staged `b` or queued `q`, then 32 hex digits (lib/fluent/plugin/buffer/file_chunk.rb); the `.meta` beside it is no chunk. */
const NAME = /\.[bq]([0-9a-f]{32})\.[^/]*$/;

export function isChunk(path: string): boolean {
  return NAME.test(path) && !path.endsWith('.meta');
}

/** What Fluentd itself calls the chunk: the same for as long as it lives (lib/fluent/unique_id.rb). */
export function chunkId(path: string): string | undefined {
  return NAME.exec(path)?.[1];
}
