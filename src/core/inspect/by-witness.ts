import type { FileLook, FollowedReading, PosFileReading } from '../look/snapshot.ts';
import { entryKeyIn } from '../pos-file/pos-file.ts';
import { nameOfWorker, type Report } from '../witness/answer.ts';
import type { Reports } from '../witness/reports.ts';

/**
 * What pos files, log files and directories would show, as the witnesses say it: posidle's own container has none of these files. Each
 * in_tail input counts as one pos file, and so does a worker that does not answer.
 */
export function filesBy({ witnesses }: Reports, dir: string) {
  const report = witnesses.flatMap((one) => (one.kind === 'alive' ? [one.report] : []));
  if (report.length === 0) {
    const nobody: PosFileReading = {
      path: dir,
      kind: 'unreadable',
      error: 'no witness of a Fluentd answers',
    };
    return { posFiles: [nobody], looks: new Map(), followed: [] };
  }
  const looks = new Map<string, FileLook>();
  const posFiles = report.flatMap((one) => one.readers.map((path) => readingOf(path, one, looks)));
  const silent = witnesses.flatMap((one): readonly PosFileReading[] =>
    one.kind === 'silent' ? [{ path: nameOfWorker(one), kind: 'unreadable', error: one.why }] : [],
  );
  return { posFiles: [...posFiles, ...silent], looks, followed: report.map(unfoundIn) };
}

function readingOf(path: string, { files }: Report, looks: Map<string, FileLook>): PosFileReading {
  const entries = files
    .filter(({ reader }) => reader === path)
    .map((file) => {
      const { inode, position, size, unfinished, lines } = file;
      const entry = { path: file.path, inode, position };
      const key = entryKeyIn(path, entry);
      const newlineLeft = lines > 0 || (size !== undefined && size - position > unfinished);
      looks.set(key, size === undefined ? {} : { atPath: { inode, size }, newlineLeft });
      return { ...entry, key };
    });
  const nothingElse = { replaced: [], unparsable: [], writtenAgo: Number.POSITIVE_INFINITY };
  return { path, kind: 'read', entries, ...nothingElse };
}

function unfoundIn({ readers: [posFile = ''], unfound }: Report): FollowedReading {
  const files = unfound.map(({ path, inode, size = 0 }) => ({ path, inode, size }));
  return { posFile, byInode: true, files };
}
