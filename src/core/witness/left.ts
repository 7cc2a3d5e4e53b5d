/** What a worker says is left: the way of a line from file to buffer. */
import type { Held, Left } from '../progress/progress.ts';
import { type FileReport, nameOf, type OutputReport, type Report, type WorkerReport } from './answer.ts';
import type { FileHistory } from './file-history.ts';

export function leftIn({ kind, report }: WorkerReport, history: FileHistory): readonly Left[] {
  const isAlive = kind === 'alive';
  const closed = new Set(report.closed.map(({ key }) => key));
  return [
    ...report.unfound
      .filter((file) => !history.hasRead(file))
      // An ended worker may have closed such a file itself, or a later one has found it.
      .filter(({ key, at }) => isAlive || (!closed.has(key) && history.reachedSince(key, at) === undefined))
      .map(
        ({ path, size, isUnreadable }): Left => ({
          kind: isUnreadable ? 'unreadable' : 'unfound',
          path,
          bytes: size,
        }),
      ),
    ...report.closed.flatMap((file) => letGo(file, history)),
    ...report.aside.map((path): Left => ({ kind: 'given-up', path, bytes: undefined })),
    ...(isAlive ? leftOnTheWay(report) : report.closed.flatMap(waitingIn)),
  ];
}

function leftOnTheWay({ files, movingThreads: threads, kept, outputs }: Report): readonly Left[] {
  return [
    ...files.flatMap(unreadIn),
    ...(threads > 0 ? [{ kind: 'moving', threads } as const] : []),
    ...files.flatMap(waitingIn),
    ...kept.map((one) => ({ kind: 'kept', ...one }) as const),
    ...outputs.flatMap((output) => heldBy(output, output.isRetrying ? 'retry' : 'flush')),
  ];
}

function unreadIn({ path, position, size, unfinished, lines, isUnreadable }: FileReport): readonly Left[] {
  if (size === undefined) return lines > 0 ? [{ kind: 'unread', path, bytes: undefined }] : [];
  // in_tail has not noticed the truncation yet.
  if (size < position) return [{ kind: 'unread', path, bytes: size }];
  const bytes = size - position;
  if (lines === 0 && bytes === 0) return [];
  if (isUnreadable) return [{ kind: 'unreadable', path, bytes }];
  if (lines === 0 && bytes <= unfinished) return [{ kind: 'unfinished', path, bytes }];
  return [{ kind: 'unread', path, bytes }];
}

/** Unread bytes of a closed file, even if they came after in_tail let go of it. */
function letGo(file: FileReport, history: FileHistory): readonly Left[] {
  const { path, key, position, size = position, unfinished, isUnreadable, at, wasFollowed } = file;
  const bytes = size - (history.reachedSince(key, at) ?? position);
  if (bytes <= 0 || history.isFollowed(key)) return [];
  // Nobody delivers the rest of a line whose file had left its path.
  const isUnfinished = wasFollowed && bytes <= unfinished;
  const kind = isUnreadable ? 'unreadable' : isUnfinished ? 'unfinished' : 'let-go';
  return [{ kind, path, bytes }];
}

/** The record of a multiline source that waits for its next line. */
function waitingIn({ path, record, emitsAfter }: FileReport): readonly Left[] {
  return record > 0
    ? [{ kind: 'kept', where: `the multiline source of ${path}`, records: 1, emitsAfter }]
    : [];
}

export function heldBy(output: OutputReport, next: Held['next']): readonly Left[] {
  const { chunks, bytes, ids, receipt } = output;
  if (chunks === 0) return [];
  return [{ kind: 'held', output: nameOf(output), chunks, bytes, ids, isOwn: receipt.isOwn, next }];
}
