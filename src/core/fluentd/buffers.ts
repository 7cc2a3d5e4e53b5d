export interface Chunk {
  readonly path: string;
  readonly size: number;
}

export interface ChunkListing {
  readonly chunks: readonly Chunk[];
  /** The buffer's directory can be seen. Fluentd makes it when it starts. */
  readonly isThere: boolean;
}

/** Staged `b` or queued `q`, then 32 hex digits (lib/fluent/plugin/buffer/file_chunk.rb); the `.meta` beside it is no chunk. */
const NAME = /\.[bq]([0-9a-f]{32})\.[^/]*(?<!\.meta)$/;

/** What Fluentd itself calls the chunk: the same for as long as it lives (lib/fluent/unique_id.rb). undefined: it is none. */
export function chunkId(path: string): string | undefined {
  return NAME.exec(path)?.[1];
}

export interface BuffersReading {
  /** Those whose chunks lie on a disk that posidle sees. */
  readonly outputs: readonly OutputReading[];
  /** Buffers that nobody can look into, each with the reason. */
  readonly unseen: readonly string[];
  /** Chunks that Fluentd has given up and put aside since posidle began. */
  readonly givenUp: readonly Chunk[];
}

export interface OutputReading {
  /** For people: `@id`, or `forward of <match app>`. */
  readonly name: string;
  readonly chunks: readonly Chunk[];
}

export const NO_BUFFERS: BuffersReading = { outputs: [], unseen: [], givenUp: [] };
