import type { FluentConf } from '../core/fluent-conf/fluent-conf.ts';
import { type BuffersReading, type Chunk, chunkId, type OutputReading } from '../core/fluentd/buffers.ts';
import type { Host } from '../host.ts';

/** Looks at the part of Fluentd's buffers that is visible from outside: chunks on disk. */
export class Buffers {
  readonly #host: Host;
  readonly #conf: FluentConf | undefined;
  #asideBefore: ReadonlySet<string> | undefined;

  constructor(host: Host, conf: FluentConf | undefined) {
    this.#host = host;
    this.#conf = conf;
  }

  /** Remembers, once, what Fluentd has already put aside. If the listing fails, that counts as new later. */
  async begin(): Promise<void> {
    if (this.#asideBefore !== undefined) return;
    const aside = await this.#host.listChunks(this.#conf?.backupGlobs ?? []).catch(() => undefined);
    this.#asideBefore = new Set(aside?.chunks.map(({ path }) => path));
  }

  async look(): Promise<BuffersReading> {
    if (this.#conf === undefined)
      return { outputs: [], unseen: ['all buffers: no fluent.conf is known'], givenUp: [] };
    const { buffers, backupGlobs, problems } = this.#conf;
    const unseen = problems.length > 0 ? [HIDDEN] : [];
    const outputs: OutputReading[] = [];
    for (const { name, chunkGlobs } of buffers) {
      const chunks = await chunksAt(this.#host, chunkGlobs);
      if (typeof chunks === 'string') unseen.push(`${name} (${chunks})`);
      else outputs.push({ name, chunks });
    }
    const aside = await this.#host.listChunks(backupGlobs).catch((error: Error) => error);
    const isError = aside instanceof Error;
    if (isError) unseen.push(`the chunks that Fluentd gives up: they cannot be listed (${aside.message})`);
    const givenUp = isError ? [] : aside.chunks.filter(({ path }) => !this.#asideBefore?.has(path));
    return { outputs, unseen, givenUp };
  }
}

const HIDDEN = 'buffers in the part of fluent.conf that posidle cannot evaluate';

/** The chunks, or why nobody sees them. */
async function chunksAt(host: Host, globs: readonly string[]): Promise<readonly Chunk[] | string> {
  if (globs.length === 0) return 'its buffer is in memory, or fluent.conf does not name its directory';
  try {
    const { chunks, isThere } = await host.listChunks(globs);
    if (!isThere) return 'the directory of its buffer is not here';
    return chunks.filter(({ path }) => chunkId(path) !== undefined);
  } catch (error) {
    return `its chunks cannot be listed: ${(error as Error).message}`;
  }
}
