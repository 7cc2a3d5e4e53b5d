import type { FluentdReading } from '../core/fluentd/processes.ts';
import { isAnotherBirth } from '../core/look/file-times.ts';
import type { FileLook, GoneLook, Snapshot } from '../core/look/snapshot.ts';
import type { Awaited, Gone } from '../core/observe/observation.ts';
import type { PositionEntry } from '../core/pos-file/pos-file.ts';
import type { Host, OpenFiles } from '../host.ts';

/** A deleted file is looked at through the worker that still holds it open. */
export function lookAtOpen(open: OpenFiles, look: FileLook, { path, inode }: PositionEntry): FileLook {
  const isSeen = look.atPath !== undefined || look.renamed !== undefined || look.error !== undefined;
  const found = isSeen ? undefined : open(path, inode);
  if (found === null) return { ...look, isClosed: true };
  return found === undefined ? look : { ...look, renamed: found };
}

/** So many files that went away are looked at: the newest. */
const MOST_LOOKED_AT = 100;
/** Beyond every byte: what is left need not be searched for a newline. */
const AT_ITS_END = Number.MAX_SAFE_INTEGER;

/** The files that went away from their paths, by their inodes. */
export async function lookAtGone(
  host: Host,
  gone: ReadonlyMap<string, Gone> | undefined,
  { open, fluentd, isLimited }: GoneView,
): Promise<ReadonlyMap<string, GoneLook>> {
  const looks = new Map<string, GoneLook>();
  const pids = pidsOf(fluentd);
  const entries = [...(gone ?? [])]
    .filter(([, { isCut, isOver }]) => !isCut && !isOver)
    .slice(-MOST_LOOKED_AT)
    .map(([key, { path, inode }]) => ({ key, path, inode, position: AT_ITS_END }));
  await host.lookAt(entries, ({ key, path, inode }, look) => {
    if (look.error !== undefined) return;
    const isBack = look.atPath?.inode === inode;
    const found = isBack ? { path, stat: look.atPath } : (look.renamed ?? open(path, inode) ?? undefined);
    const isOpen = isLimited ? isOpenIn(host, pids, found === undefined ? [] : [found.path]) : undefined;
    looks.set(key, { size: found?.stat.size, born: found?.stat.born, path: found?.path, isOpen });
  });
  return looks;
}

interface GoneView {
  readonly open: OpenFiles;
  readonly fluentd: FluentdReading;
  readonly isLimited: boolean;
}

interface Waiting extends Pick<Snapshot, 'followed' | 'fluentd'> {
  readonly awaited: ReadonlyMap<string, Awaited> | undefined;
}

/** in_tail keeps a file open for rotate_wait after it was renamed: it has found that one in time. */
export function openedOf(
  open: OpenFiles,
  { awaited, followed, fluentd }: Waiting,
): ReadonlySet<string> | undefined {
  if (fluentd.kind === 'remote') return undefined;
  if (awaited === undefined || awaited.size === 0) return new Set();
  const listed = new Set(followed.flatMap(({ files }) => files.map(({ inode }) => inode)));
  const away = [...awaited].filter(([inode]) => !listed.has(inode));
  const held = away.filter(([inode, file]) => {
    const found = open(file.path, inode);
    return found instanceof Object && isAnotherBirth(file, found.stat) !== true;
  });
  return new Set(held.map(([inode]) => inode));
}

function isOpenIn(host: Host, pids: readonly number[], paths: readonly string[]): boolean | undefined {
  const held = pids.map((pid) => host.holdsOpen(pid, paths));
  if (held.includes(true)) return true;
  return held.length === 0 || held.includes(undefined) ? undefined : false;
}

export function pidsOf(fluentd: FluentdReading): readonly number[] {
  return fluentd.kind === 'running' ? [...fluentd.workers, fluentd.supervisor].map(({ pid }) => pid) : [];
}
