import type { Chunk } from './chunk.ts';

/** What can be seen of Fluentd's buffers from outside, in one look. */
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
