/** The progress as seen from outside Fluentd: pos files, file sizes and buffers on disk. It proves nothing about Fluentd's memory. */
import { type BuffersReading, chunkId } from '../fluentd/buffers.ts';
import { type Limits, SLOW_START } from '../progress/limits.ts';
import type { Doubt, Left, LeftFile, Progress } from '../progress/progress.ts';
import { groupedBy, sum } from '../text/lists.ts';
import { andMore, counted, type Millis } from '../text/units.ts';
import { progressFromWitnesses, type Reports, type Witness, withLastAnswers } from '../witness/reports.ts';
import type { Observation, ObservedFile } from './observation.ts';

/** An observation without what is made from it. */
export type Facts = Omit<Observation, 'progress' | 'reach' | 'workers'>;

/** in_tail looks at every followed file this often, even without events (in_tail.rb:490). */
const IN_TAIL_TICK: Millis = 1_000;
const ALREADY_OVER = Number.NEGATIVE_INFINITY;

export function progressFromFiles(seen: Facts, limits: Limits): Progress {
  const { lookedAt: at, files, undiscovered, unknown, buffers, movedAt, memory } = seen;
  const outputs = buffers?.outputs ?? [];
  const counts = countFiles(files);
  const all = [...files, ...undiscovered];
  // A pos file that had entries, and is unknown now, may only hide what Fluentd has found and read.
  const hadEntries = (posFile: string) => (memory.posFiles.get(posFile)?.count ?? 0) > 0;
  const hiding = new Set(unknown.map(({ about }) => about).filter(hadEntries));
  const hidden = groupedBy(
    all.filter(({ posFile }) => hiding.has(posFile)),
    ({ posFile }) => posFile,
  );
  return {
    at,
    followedUntil: at,
    source: 'files',
    away: 0,
    movedAt,
    version: `${movedAt}`,
    files: counts.all,
    lines: undefined,
    outputs: outputs.map(({ name }) => ({ output: name })),
    taken: undefined,
    unseen: buffers?.unseen ?? [],
    ignoresSigterm: false,
    busyUntil: busyUntil(seen, limits),
    left: [
      ...restOf(all.filter(({ posFile }) => !hiding.has(posFile))),
      ...chunksOnDisk(buffers),
      ...givenUpIn(seen),
    ],
    doubts: [
      noWitness(counts.read, buffers, limits),
      ...unknown.map((one) => withRest(one, restOf(hidden.get(one.about) ?? []))),
      ...doubtsOf(seen),
    ],
  };
}

const FOR_FILES = 'there are very many files, the machine is very busy, or a mount does not answer';

/** While a look is overdue, which proves nothing about the present. */
export function progressOverdue(
  { progress, hasFiles, lastAnswers }: Observation,
  at: Millis,
  waitsFor: 'witness' | 'files',
): Progress {
  const cause = waitsFor === 'witness' ? "Fluentd's witness does not answer" : FOR_FILES;
  const isOfFiles = hasFiles || waitsFor === 'files';
  const notLooked: Doubt = { kind: 'not-looked-at', why: `posidle could not look in time: ${cause}` };
  const doubts = isOfFiles ? [notLooked] : unanswered(lastAnswers);
  return { ...progress, at, followedUntil: at, left: [], doubts };
}

const GONE = 'it is no longer at its path, and nobody knows how much of it was read';

const NO_ANSWER: Doubt = { kind: 'no-answer', why: "Fluentd's witness did not answer in time" };

/** The doubts about workers that did not answer this time, with what each one held when it last did. */
function unanswered(lastAnswers: Reports | undefined): readonly Doubt[] {
  if (lastAnswers === undefined) return [NO_ANSWER];
  const witnesses = lastAnswers.witnesses.map(
    (one): Witness =>
      one.kind === 'alive'
        ? { worker: one.worker, kind: 'silent', why: 'its witness did not answer in time', isBusy: true }
        : one,
  );
  const { doubts } = progressFromWitnesses(withLastAnswers({ ...lastAnswers, witnesses }, lastAnswers));
  return doubts.some(({ kind }) => kind === NO_ANSWER.kind) ? doubts : [NO_ANSWER, ...doubts];
}

/** What is left of each file. */
function restOf(files: readonly ObservedFile[]) {
  return files.flatMap(({ path, state, lag: bytes, read }) => {
    if (bytes === null || (read && state !== 'partial-line')) return [];
    const kind: LeftFile = read ? 'unfinished' : state === 'undiscovered' ? 'unfound' : 'unread';
    return [{ kind, path, bytes }];
  });
}

function chunksOnDisk(buffers: BuffersReading | undefined): readonly Left[] {
  return (buffers?.outputs ?? [])
    .filter(({ chunks }) => chunks.length > 0)
    .map(({ name, chunks }) => {
      const bytes = sum(chunks.map(({ size }) => size));
      const ids = chunks.flatMap(({ path }) => chunkId(path) ?? []);
      return { kind: 'held', output: name, chunks: chunks.length, bytes, ids, next: 'flush' };
    });
}

function givenUpIn({ buffers }: Pick<Observation, 'buffers'>): readonly Left[] {
  return (buffers?.givenUp ?? []).map(({ path, size }) => ({ kind: 'given-up', path, bytes: size }));
}

/** `run` brings a witness of its own, if it may. */
function noWitness(read: number, buffers: BuffersReading | undefined, { role }: Limits): Doubt {
  const empty = (buffers?.outputs ?? []).filter(({ chunks }) => chunks.length === 0).length;
  const unseen = buffers?.unseen ?? [];
  const parts = [
    ...[`${counted(read, 'file')} read to the end`, `${counted(empty, 'buffer')} on disk empty`],
    ...(unseen.length === 0 ? [] : [`not seen: ${unseen.join(', ')}`]),
  ];
  return {
    kind: 'no-witness',
    why: `nobody looked inside Fluentd${role === 'parent' ? '' : ' (`posidle witness` shows how)'}; ${parts.join(', ')}`,
  };
}

/** Counts inodes, because a file may have several entries. in_tail has not opened a file of inode 0. */
function countFiles(files: readonly ObservedFile[]): { readonly all: number; readonly read: number } {
  const [all, left] = [new Set<string>(), new Set<string>()];
  for (const { path, inode, state } of files) {
    const id = inode === '0' ? path : inode;
    all.add(id);
    if (state !== 'caught-up') left.add(id);
  }
  return { all: all.size, read: all.size - left.size };
}

function doubtsOf({ files, unlisted, memory }: Facts): readonly Doubt[] {
  return [
    ...unlisted.map((why): Doubt => ({ kind: 'unlisted', why })),
    ...files.filter(({ lag }) => lag === null).map(doubtOfUnseen),
    ...memory.departed.values(),
  ];
}

/** Names the files whose rest is uncertain. */
function withRest(doubt: Doubt, rest: ReturnType<typeof restOf>): Doubt {
  if (rest.length === 0) return doubt;
  const bytes = sum(rest.map((one) => one.bytes));
  const files = andMore(rest.map(({ path }) => path));
  return { ...doubt, bytes, why: `${doubt.why}. Nobody knows how much of ${files} is read` };
}

function doubtOfUnseen({ path: about, read }: ObservedFile): Doubt {
  if (read) return { kind: 'nobody-saw-it-read', about, why: GONE };
  return { kind: 'unseen', about, why: 'cannot be looked at by posidle' };
}

function busyUntil(seen: Facts, limits: Limits): Millis {
  const { readSince = ALREADY_OVER, movedAt = ALREADY_OVER, memory } = seen;
  const { departedAt = ALREADY_OVER } = memory;
  const { rotateWait, multilineFlush } = limits.tail;
  return Math.max(
    // If something is unread or unknown, the drain waits for that and not for a time.
    readSince + limits.settle,
    // in_tail reads a renamed file for rotate_wait, and no pos file shows it (in_tail.rb:672-684, 1035).
    departedAt + rotateWait + IN_TAIL_TICK,
    // A multiline source emits its last record multiline_flush_interval after the last line.
    multilineFlush === 0 ? ALREADY_OVER : movedAt + multilineFlush + IN_TAIL_TICK,
    startEnd(seen, limits),
  );
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
  const { supervisor, workersSince = ALREADY_OVER } = memory;
  return Math.max(supervisor.since + (isUp ? settle : SLOW_START), workersSince + start);
}
