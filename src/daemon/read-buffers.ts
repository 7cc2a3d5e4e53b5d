import type { BufferConf } from '../core/fluent-conf/buffer-sections.ts';
import {
  type BuffersReading,
  type Chunk,
  chunkId,
  NO_BUFFERS,
  type OutputReading,
} from '../core/fluentd/buffers.ts';
import type { Subject } from '../core/look/subject.ts';
import type { Host } from '../host.ts';

type BufferHost = Pick<Host, 'listChunks'>;
type BufferPlaces = Pick<Subject, 'conf' | 'putAsideBefore'>;
type BufferLook = Partial<{ readonly seen: OutputReading; readonly unseen: string }>;

/** Reads the part of Fluentd's buffers that is visible from outside: chunks on disk. */
export async function readBuffers(
  host: BufferHost,
  { conf, putAsideBefore }: BufferPlaces,
): Promise<BuffersReading> {
  if (conf === undefined) return { ...NO_BUFFERS, unseen: ['all buffers: no fluent.conf is known'] };
  const readings = await Promise.all(conf.buffers.map((buffer) => lookOnDisk(host, buffer)));
  const aside = await listAside(host, conf.backupGlobs, putAsideBefore);
  const hidden =
    conf.problems.length === 0 ? [] : ['buffers in the part of fluent.conf that posidle cannot evaluate'];
  return {
    outputs: readings.flatMap(({ seen }) => seen ?? []),
    unseen: [...hidden, ...readings.flatMap(({ unseen }) => unseen ?? []), ...aside.unseen],
    givenUp: aside.givenUp,
  };
}

/** The chunks that Fluentd has already put aside. If the listing fails, they count as new later. */
export async function listPutAside(
  host: BufferHost,
  { conf }: Pick<Subject, 'conf'>,
): Promise<ReadonlySet<string>> {
  const { chunks } = await host.listChunks(conf?.backupGlobs ?? []).catch(() => ({ chunks: [] }));
  return new Set(chunks.map(({ path }) => path));
}

async function listAside(
  host: BufferHost,
  globs: readonly string[],
  before: ReadonlySet<string> = new Set(),
): Promise<{ readonly givenUp: readonly Chunk[]; readonly unseen: readonly string[] }> {
  try {
    const { chunks } = await host.listChunks(globs);
    return { givenUp: chunks.filter(({ path }) => !before.has(path)), unseen: [] };
  } catch (error) {
    const why = `the chunks that Fluentd gives up: they cannot be listed (${(error as Error).message})`;
    return { givenUp: [], unseen: [why] };
  }
}

async function lookOnDisk(host: BufferHost, { name, chunkGlobs }: BufferConf): Promise<BufferLook> {
  if (chunkGlobs.length === 0)
    return { unseen: `${name} (its buffer is in memory, or fluent.conf does not name its directory)` };
  try {
    const { chunks, isThere } = await host.listChunks(chunkGlobs);
    return isThere
      ? { seen: { name, chunks: chunks.filter(({ path }) => chunkId(path) !== undefined) } }
      : { unseen: `${name} (the directory of its buffer is not here)` };
  } catch (error) {
    return { unseen: `${name} (its chunks cannot be listed: ${(error as Error).message})` };
  }
}
