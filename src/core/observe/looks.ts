/** The progress as seen from outside Fluentd: pos files, file sizes and buffers on disk. It proves nothing about Fluentd's memory. */
import { type BuffersReading, chunkId } from '../fluentd/buffers.ts';
import { IN_TAIL_TICK, timeToRead } from '../in-tail/pace.ts';
import type { Limits } from '../progress/limits.ts';
import type { Doubt, Left, Progress } from '../progress/progress.ts';
import { counted, type Millis } from '../text/units.ts';
import type { Departed, Observation, ObservedFile } from './observation.ts';

/** An observation from which its progress is made. */
export type Facts = Omit<Observation, 'progress'>;

/** How long a wrapper may take to start Fluentd, and a Fluentd that is short of CPU to start its worker. */
const SLOW_START: Millis = 10_000;
const ALREADY_OVER = Number.NEGATIVE_INFINITY;

export function progressFromFiles(seen: Facts, limits: Limits): Progress {
  const { lookedAt: at, files, buffers, movedAt } = seen;
  const outputs = buffers?.outputs ?? [];
  const facts = {
    at,
    source: 'files' as const,
    movedAt,
    mark: `${movedAt}`,
    files: files.length,
    lines: undefined,
    outputs: outputs.map(({ name }) => ({ output: name })),
    unseen: buffers?.unseen ?? [],
    ignoresSigterm: false,
    busyUntil: busyUntil(seen, limits),
  };
  // An overdue look proves nothing about the present.
  if (seen.extent === 'overdue')
    return { ...facts, left: [], doubts: [seen.hasFiles ? NOT_LOOKED_AT : NO_ANSWER] };
  return {
    ...facts,
    left: [...files.flatMap(unread), ...unfoundIn(seen), ...heldBy(buffers), ...givenUpIn(seen)],
    doubts: [noWitness(seen), ...doubtsOf(seen)],
  };
}

const NOT_LOOKED_AT: Doubt = {
  kind: 'not-looked-at',
  why: 'posidle could not look in time: there are very many files, or a mount does not answer',
};

const NO_ANSWER: Doubt = { kind: 'no-answer', why: "Fluentd's witness did not answer in time" };

function unread({ path, state, lag, read }: ObservedFile): readonly Left[] {
  if (lag === null) return [];
  if (!read) return [{ kind: 'unread', path, bytes: lag }];
  return state === 'partial-line' ? [{ kind: 'unfinished', path, bytes: lag }] : [];
}

function unfoundIn({ undiscovered }: Facts): readonly Left[] {
  return undiscovered
    .filter(({ size }) => size > 0)
    .map(({ path, size }) => ({ kind: 'unfound', path, bytes: size }));
}

function heldBy(buffers: BuffersReading | undefined): readonly Left[] {
  return (buffers?.outputs ?? [])
    .filter(({ chunks }) => chunks.length > 0)
    .map(({ name, chunks }) => {
      const bytes = chunks.reduce((sum, { size }) => sum + size, 0);
      const ids = chunks.flatMap(({ path }) => chunkId(path) ?? []);
      return { kind: 'held', output: name, chunks: chunks.length, bytes, ids, next: 'flush' };
    });
}

function givenUpIn({ buffers }: Pick<Observation, 'buffers'>): readonly Left[] {
  return (buffers?.givenUp ?? []).map(({ path, size }) => ({ kind: 'given-up', path, bytes: size }));
}

function noWitness({ files, buffers }: Facts): Doubt {
  const read = files.filter((file) => file.read).length;
  const empty = (buffers?.outputs ?? []).filter(({ chunks }) => chunks.length === 0).length;
  const parts = [`${counted(read, 'file')} read to the end`, `${counted(empty, 'buffer')} on disk empty`];
  const unseen =
    buffers === undefined || buffers.unseen.length === 0 ? [] : [`not seen: ${buffers.unseen.join(', ')}`];
  return {
    kind: 'no-witness',
    why: `nobody looked inside Fluentd (\`posidle witness\` shows how); ${[...parts, ...unseen].join(', ')}`,
  };
}

function doubtsOf({ files, unknown, unlisted, memory }: Facts): readonly Doubt[] {
  return [
    ...unknown.map(
      ({ path, why, empty }): Doubt => ({ kind: empty ? 'empty-pos-file' : 'pos-file', about: path, why }),
    ),
    ...unlisted.map((why): Doubt => ({ kind: 'unlisted', why })),
    ...files
      .filter(({ read, lag }) => !read && lag === null)
      .map(({ path }): Doubt => ({ kind: 'unseen', about: path, why: 'cannot be looked at by posidle' })),
    ...[...memory.departed.values()].filter(({ unreadBytes }) => unreadBytes > 0).map(doubtOfDeparted),
  ];
}

function doubtOfDeparted({ path: about, unreadBytes: bytes, how }: Departed): Doubt {
  return how === 'left'
    ? {
        kind: 'closed-unread',
        about,
        bytes,
        why: 'it left its path before its position showed that it was read',
      }
    : { kind: 'never-followed', about, bytes, why: `it was ${how} before Fluentd had found it` };
}

function busyUntil(seen: Facts, limits: Limits): Millis {
  // If something is unread or unknown, the drain waits for that and not for a time.
  const settled = seen.readSince === undefined ? ALREADY_OVER : seen.readSince + limits.settle;
  return Math.max(settled, rotationEnd(seen, limits), multilineEnd(seen, limits), startEnd(seen, limits));
}

/** in_tail reads a renamed file for rotate_wait, or to its end under a limit, and no pos file shows it (in_tail.rb:672-684, 1035). */
function rotationEnd({ memory }: Facts, { tail: { rotateWait, readLimit } }: Limits): Millis {
  // Includes files that were gone before they had an entry: in_tail may have found them just in time.
  const away = [...memory.departed.values()].filter(({ how }) => how !== 'cut short');
  const ends = away.map(
    ({ since, unreadBytes }) =>
      since + rotateWait + IN_TAIL_TICK + (readLimit === undefined ? 0 : timeToRead(unreadBytes, readLimit)),
  );
  return Math.max(ALREADY_OVER, ...ends);
}

/** A multiline source emits its last record multiline_flush_interval after the last line. */
function multilineEnd(
  { movedAt }: Pick<Observation, 'movedAt'>,
  { tail: { multilineFlush } }: Pick<Limits, 'tail'>,
): Millis {
  return multilineFlush === 0 || movedAt === undefined
    ? ALREADY_OVER
    : movedAt + multilineFlush + IN_TAIL_TICK;
}

/** A signal would kill a supervisor or worker that has just started, even if an older pos file exists. */
export function startEnd(
  { fluentd, memory }: Pick<Observation, 'fluentd' | 'memory'>,
  { settle, role }: Pick<Limits, 'settle' | 'role'>,
): Millis {
  if (fluentd.kind === 'wrapper') return fluentd.since + SLOW_START;
  if (memory.supervisor === undefined) return ALREADY_OVER;
  const isUp = memory.workersSince !== undefined || role !== 'parent';
  const isUnsure = fluentd.kind === 'running' && fluentd.isStarting === undefined;
  const start = isUnsure ? SLOW_START : settle;
  const ofWorkers = memory.workersSince === undefined ? ALREADY_OVER : memory.workersSince + start;
  return Math.max(memory.supervisor.since + (isUp ? settle : SLOW_START), ofWorkers);
}
