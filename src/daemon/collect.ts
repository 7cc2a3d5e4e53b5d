import { entryKey, latestEntries, type PositionEntry, parsePosFile } from '../core/pos-file.ts';
import type { FluentdReading } from '../core/processes.ts';
import type { FileLook, FileStat, PosFileReading, Snapshot } from '../core/snapshot.ts';
import type { Host } from '../host.ts';

/** One look at the whole world, and at the fluentd that was just looked for. */
export async function collect(
  host: Host,
  posFilePatterns: readonly string[],
  fluentd: FluentdReading,
): Promise<Snapshot> {
  const posFiles = await readPosFiles(host, posFilePatterns);
  const looks = await lookAtFiles(host, posFiles);
  return { at: host.now(), posFiles, looks, fluentd, requests: host.requests() };
}

/** Every pos file that the arguments stand for. */
export async function readPosFiles(
  host: Pick<Host, 'expand' | 'readFile'>,
  patterns: readonly string[],
): Promise<readonly PosFileReading[]> {
  const paths = await Promise.all(patterns.map((pattern) => host.expand(pattern)));
  return Promise.all([...new Set(paths.flat())].map((path) => readPosFile(host, path)));
}

/** The log file of every entry that counts, by `entryKey`. */
export async function lookAtFiles(
  host: Pick<Host, 'statFiles' | 'findByInode' | 'hasNewlineAfter'>,
  posFiles: readonly PosFileReading[],
): Promise<ReadonlyMap<string, FileLook>> {
  const entries = posFiles.flatMap((reading) =>
    reading.kind === 'read' ? latestEntries(reading.entries, undefined) : [],
  );
  const stats = await host.statFiles(entries.map(({ path }) => path));
  const looks = new Map<string, FileLook>();
  for (const [index, entry] of entries.entries()) {
    looks.set(entryKey(entry), await lookAtFile(host, entry, stats[index]));
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

async function lookAtFile(
  host: Pick<Host, 'findByInode' | 'hasNewlineAfter'>,
  entry: PositionEntry,
  stat: FileStat | Error | undefined,
): Promise<FileLook> {
  if (stat instanceof Error) return { error: stat.message };
  if (entry.position === null) return stat === undefined ? {} : { atPath: stat };
  const here = stat !== undefined && (stat.inode === entry.inode || entry.inode === '0');
  const renamed = here ? undefined : await host.findByInode(entry.path, entry.inode);
  const file = here ? { path: entry.path, stat } : renamed;
  const isLeft = file !== undefined && file.stat.size > entry.position;
  const newlineLeft = isLeft ? await host.hasNewlineAfter(file.path, entry.position) : undefined;
  return {
    ...(stat && { atPath: stat }),
    ...(renamed && { renamed }),
    ...(newlineLeft !== undefined && { newlineLeft }),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
