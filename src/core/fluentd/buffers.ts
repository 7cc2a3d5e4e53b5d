export interface Chunk {
  readonly path: string;
  readonly size: number;
}

export interface ChunkListing {
  readonly chunks: readonly Chunk[];
  /** posidle sees the buffer's directory, which Fluentd makes when it starts. */
  readonly isThere: boolean;
}

/** Staged `b` or queued `q`, then 32 hex digits (lib/fluent/plugin/buffer/file_chunk.rb); the `.meta` beside it is no chunk. */
const NAME = /\.[bq]([0-9a-f]{32})\.[^/]*(?<!\.meta)$/;

/** Fluentd's id of the chunk, which never changes (lib/fluent/unique_id.rb); undefined if the file is no chunk. */
export function chunkId(path: string): string | undefined {
  return NAME.exec(path)?.[1];
}

export interface BuffersReading {
  /** Outputs with chunks on a disk that posidle sees. */
  readonly outputs: readonly OutputReading[];
  /** Buffers that posidle cannot see, each with the reason. */
  readonly unseen: readonly string[];
  /** Chunks that Fluentd has given up and put aside since posidle started. */
  readonly givenUp: readonly Chunk[];
}

export interface OutputReading {
  /** For people: `@id`, or `forward of <match app>`. */
  readonly name: string;
  readonly chunks: readonly Chunk[];
}
