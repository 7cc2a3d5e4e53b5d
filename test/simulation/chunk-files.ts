import type { Chunk as ChunkFile } from '../../src/core/fluentd/buffers.ts';
import type { Millis } from '../../src/core/text/units.ts';
import { LINE_BYTES } from './log-files.ts';

const BUFFER = '/buffer/buffer';

export interface Chunk {
  readonly id: string;
  readonly lines: number[];
  /** By the wall clock. */
  readonly begunAt: Millis;
}

/** The chunk files and backup chunks, which outlive a worker. */
export interface Disk {
  staged: Chunk | undefined;
  queue: Chunk[];
  readonly backups: ChunkFile[];
}

export function chunkFiles({ staged, queue }: Disk): readonly ChunkFile[] {
  const files = queue.map((chunk) => [chunk, 'q'] as const);
  const all = staged === undefined ? files : [...files, [staged, 'b'] as const];
  return all.map(([{ id, lines }, state]) => ({
    path: `${BUFFER}.${state}${id}.log`,
    size: lines.length * LINE_BYTES,
  }));
}
