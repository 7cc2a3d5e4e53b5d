import type { ConfFacts } from '../core/fluent-conf/facts.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import { type FluentdReading, findMains } from '../core/fluentd/processes.ts';
import type { Depth, FileLook, FollowedReading, PosFileReading, Snapshot } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import { entryKeyIn, latestEntries, parsePosFile } from '../core/pos-file/pos-file.ts';
import type { Host } from '../host.ts';
import { readBuffers } from './read-buffers.ts';

/**
 * One look at the world, and at the fluentd that was just looked for. Positions first, sizes after: a position that has
 * reached a size seen later has reached every byte before it. Buffers last: in_tail moves a position only when the buffer
 * has taken the lines (in_tail.rb:1269).
 */
export async function collect(host: Host, subject: Subject, view: View): Promise<Snapshot> {
  const posFiles = await readPosFiles(host, subject.posFiles);
  const looks = await lookAtFiles(host, posFiles);
  const isWhole = view.depth !== 'positions';
  const followed = isWhole ? await listFollowed(host, subject.conf) : undefined;
  const buffers = isWhole ? await readBuffers(host, subject.conf, view.depth) : undefined;
  const mains = subject.doneProcess && findMains(await host.listProcesses(), subject.doneProcess, host.self);
  return {
    at: host.now(),
    mains,
    posFiles,
    looks,
    followed,
    buffers,
    fluentd: view.fluentd,
    requests: host.requests(),
  };
}

/** How much a look takes in. */
export interface View {
  readonly fluentd: FluentdReading;
  readonly depth: Depth;
}

/** The files that each source is to read. */
export async function listFollowed(
  host: Pick<Host, 'listFollowed'>,
  conf: Pick<ConfFacts, 'sources' | 'hidden'> | undefined,
): Promise<readonly FollowedReading[]> {
  const { sources, hidden } = conf ?? { sources: [], hidden: [] };
  const known = sources.flatMap((source) =>
    source.posFile === undefined ? [] : [followedBy(host, source, source.posFile)],
  );
  const unknown = hidden.map((why) => ({ ...NOT_KNOWN, unknown: why }));
  return [...(await Promise.all(known)), ...unknown];
}

const NOT_KNOWN = { posFile: 'further sources', refreshInterval: 0, byInode: false, files: [] } as const;

async function followedBy(
  host: Pick<Host, 'listFollowed'>,
  source: TailSource,
  posFile: string,
): Promise<FollowedReading> {
  const { refreshInterval, followInodes: byInode } = source;
  const reading = { posFile, refreshInterval, byInode };
  if (source.paths.length === 0) return { ...reading, files: [], unknown: 'its path could not be evaluated' };
  try {
    return { ...reading, files: await host.listFollowed(source) };
  } catch (error) {
    return { ...reading, files: [], unknown: messageOf(error) };
  }
}

/** Every pos file that the arguments stand for. */
export async function readPosFiles(
  host: Pick<Host, 'expand' | 'readFile'>,
  patterns: readonly string[],
): Promise<readonly PosFileReading[]> {
  const paths = await Promise.all(patterns.map((pattern) => host.expand(pattern)));
  return Promise.all([...new Set(paths.flat())].map((path) => readPosFile(host, path)));
}

/** The log file of every entry that counts, by `entryKeyIn`. */
export async function lookAtFiles(
  host: Pick<Host, 'lookAt'>,
  posFiles: readonly PosFileReading[],
): Promise<Snapshot['looks']> {
  const looks = new Map<string, FileLook>();
  for (const reading of posFiles) {
    if (reading.kind !== 'read') continue;
    const entries = latestEntries(reading.entries, undefined);
    await host.lookAt(entries, (entry, look) => looks.set(entryKeyIn(reading.path, entry), look));
  }
  return looks;
}

async function readPosFile(host: Pick<Host, 'readFile'>, path: string): Promise<PosFileReading> {
  try {
    const content = await host.readFile(path);
    if (content === undefined) return { path, kind: 'missing' };
    if (content.bytes.length === 0) return { path, kind: 'empty' };
    return { path, kind: 'read', ...parsePosFile(content.bytes), writtenAgo: content.writtenAgo };
  } catch (error) {
    return { path, kind: 'unreadable', error: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
