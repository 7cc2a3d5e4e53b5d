/**
 * Turns the witnesses' reports into what is left and what is doubted. Each doubt comes from one fact; no two facts make a third. A later
 * fact about the same file or chunk, from any worker, removes a doubt.
 */
import { describeLeft, type Listed, listed } from '../progress/describe.ts';
import type { Doubt, Left, Progress } from '../progress/progress.ts';
import { counted, formatDuration, type Millis } from '../text/units.ts';
import { nameOf, nameOfWorker, type OutputReport, type WorkerReport } from './answer.ts';
import { doubt, doubtsOfFiles } from './doubts-of-files.ts';
import { FileHistory } from './file-history.ts';
import { isHarmless } from './harmless-messages.ts';
import { heldBy, leftIn } from './left.ts';
import { awayOf, doubtsOfReceipts, doubtsOfWorkers, linesIn, receiptsIn, takenIn } from './receipts.ts';
import { mayHold, silentLosses } from './silent-loss.ts';

/** The result of asking one witness. Each worker makes one socket when it starts. */
export type Witness = {
  readonly worker: string;
  /** What was left when it last answered, if it says nothing now. */
  readonly before?: Listed<Left> | undefined;
  /** When posidle last saw it alive, if it is gone. */
  readonly aliveAt?: Millis | undefined;
} & (
  | Pick<WorkerReport, 'kind' | 'report'>
  /** Nobody listens at the socket any more, and there is no last report. */
  | { readonly kind: 'gone'; readonly report: undefined }
  /** `isBusy`: it may still answer. */
  | { readonly kind: 'silent'; readonly report?: undefined; readonly why: string; readonly isBusy: boolean }
);

export interface Reports {
  readonly at: Millis;
  readonly witnesses: readonly Witness[];
}

/** in_tail lets go of a renamed file after rotate_wait (5 s by default), so after a longer gap the witness may have missed one. */
const LONGEST_GAP: Millis = 5_000;

/** Whether every worker has answered or left its last report. */
export function isAnswered({ witnesses }: Reports): boolean {
  return witnesses.length > 0 && witnesses.every(hasSaid);
}

function hasSaid({ kind, report }: Witness): boolean {
  return report !== undefined && (kind === 'alive' ? report.error === undefined : report.isFinal);
}

/** Whether every worker has answered or has ended, well or not. */
export function isComplete({ witnesses }: Reports): boolean {
  return witnesses.length > 0 && witnesses.every(({ kind }) => kind !== 'silent');
}

export function isAnyAlive({ witnesses }: Reports): boolean {
  return witnesses.some(({ kind }) => kind === 'alive');
}

/** With what was left for each worker that says nothing now, and when it was last alive. `earlier`: the reports of the look before. */
export function withLastAnswers(now: Reports, earlier: Reports | undefined): Reports {
  const before = new Map(earlier?.witnesses.map((one) => [one.worker, one]));
  const witnesses = now.witnesses.map((one): Witness => {
    const last = before.get(one.worker);
    if (one.kind === 'alive') return one;
    if (one.kind === 'silent') return { ...one, before: lastLeft(last) };
    const aliveAt = last?.kind === 'gone' ? last.aliveAt : last && earlier?.at;
    return { ...one, aliveAt, ...(one.report === undefined && { before: lastLeft(last) }) };
  });
  return { ...now, witnesses };
}

function lastLeft(witness: Witness | undefined): Listed<Left> | undefined {
  return witness?.kind === 'alive' ? listed(leftIn(witness, new FileHistory([]))) : witness?.before;
}

/** When a worker was last seen alive. */
export function lastAlive({ at, witnesses }: Reports): Millis {
  return Math.max(
    ...witnesses.map((one) => (one.kind === 'gone' ? (one.aliveAt ?? Number.NEGATIVE_INFINITY) : at)),
  );
}

/** Until when every in_tail was seen at work: nobody may have read later lines. */
function followedUntil({ at, witnesses }: Reports): Millis {
  const ends = [...new Set(witnesses.flatMap(readersOf))].map((reader) =>
    lastAlive({ at, witnesses: witnesses.filter((one) => readersOf(one).includes(reader)) }),
  );
  return Math.min(lastAlive({ at, witnesses }), ...ends);
}

/** None of a worker that ended before it was ready: it has read nothing. */
function readersOf({ kind, report }: Witness): readonly string[] {
  return report !== undefined && (kind === 'alive' || report.isReady) ? report.readers : [];
}

export function progressFromWitnesses(reports: Reports): Progress {
  const { at, witnesses } = reports;
  const workers = witnesses.filter((one) => one.report !== undefined);
  const history = new FileHistory(workers);
  const ends = endsIn(workers);
  // The oldest worker comes first.
  const latest = new Set(
    witnesses.slice(witnesses.findLastIndex((one) => !hasSaid(one)) + 1).map(({ worker }) => worker),
  );
  const isSure = ({ kind, worker }: WorkerReport) => kind === 'alive' || latest.has(worker);
  const leftBy = (one: WorkerReport) => [
    ...leftIn(one, history),
    ...ends.flatMap(({ by, end }) => (by === one && end.buffer !== 'reloaded' ? heldBy(end, 'none') : [])),
  ];
  return {
    at,
    followedUntil: followedUntil(reports),
    source: 'witness',
    away: awayOf(workers, witnesses.filter(({ kind }) => kind === 'silent').length),
    left: [...unstartedIn(workers), ...workers.filter(isSure).flatMap(leftBy)],
    doubts: distinct([
      ...witnesses.flatMap(doubtsOfWorker),
      ...doubtsOfFiles(workers, history),
      ...workers.flatMap(doubtsOfPlugins),
      ...ends.flatMap(({ end }) => (end.buffer === 'reloaded' ? [doubtOfReload(end)] : [])),
      ...(isAnswered(reports) ? doubtsOfWorkers(workers) : []),
      ...workers.filter((one) => !isSure(one)).flatMap((one) => doubtOfRest(one, leftBy(one))),
    ]),
    version: [
      linesIn(workers),
      ...workers.map(({ report }) => [report.repeatedEmits, report.isReady]),
    ].join(),
    files: history.reached.size,
    movedAt: undefined,
    unseen: [],
    ignoresSigterm: workers.some(({ kind, report }) => kind === 'alive' && report.ignoresSigterm),
    busyUntil: Number.NEGATIVE_INFINITY,
    lines: linesIn(workers),
    outputs: receiptsIn(workers),
    taken: takenIn(workers),
  };
}

/** What was in buffers when they ended, by the worker. The last one that takes a chunk over either sends it or ends with it. */
function endsIn(workers: readonly WorkerReport[]) {
  const byEnd = workers.toSorted((a, b) => aliveUntil(a) - aliveUntil(b));
  const takenBy = new Map(byEnd.flatMap((one) => one.report.resumed.map((id) => [id, one] as const)));
  return workers.flatMap((by) =>
    by.report.ends
      .filter(({ buffer }) => by.kind === 'gone' || buffer === 'reloaded')
      .map((end) => ({ by, end: onlyIds(end, (id) => (takenBy.get(id) ?? by) === by) }))
      .filter(({ end }) => end.chunks > 0),
  );
}

function aliveUntil({ kind, aliveAt = Number.NEGATIVE_INFINITY }: WorkerReport): Millis {
  return kind === 'alive' ? Number.POSITIVE_INFINITY : aliveAt;
}

/** A reload ends the buffers, but not the worker. Chunks that no later buffer took over are lost or forgotten. */
function doubtOfReload(end: OutputReport): Doubt {
  const why = `a reload ended its buffer with ${counted(end.chunks, 'chunk')} in it`;
  return doubt('reloaded', nameOf(end), why);
}

function doubtOfRest(worker: WorkerReport, left: readonly Left[]): readonly Doubt[] {
  if (left.length === 0) return [];
  const rest = listed(left);
  const why = `it ended, and a worker without a last report may have read or sent what it left: ${describeLeft(rest)}`;
  return [doubt('worker-died', nameOfWorker(worker), why, rest.bytes)];
}

function onlyIds(output: OutputReport, isLeft: (id: string) => boolean): OutputReport {
  const ids = output.ids?.filter(isLeft);
  return ids === undefined ? output : { ...output, ids, chunks: ids.length };
}

/** The last worker, if neither it nor one before it has ever started its inputs, or read a line with one that was started first. */
function unstartedIn(workers: readonly WorkerReport[]): readonly Left[] {
  const hasBegun = workers.some(({ report: { isReady, lines = 0 } }) => isReady || lines > 0);
  const unstarted = hasBegun ? [] : workers.slice(-1);
  return unstarted.map((one) => ({ kind: 'unstarted', where: nameOfWorker(one) }));
}

function doubtsOfWorker(witness: Witness): readonly Doubt[] {
  const worker = nameOfWorker(witness);
  if (witness.kind === 'silent')
    return [doubtOfSilence(witness.isBusy ? 'no-answer' : 'not-believed', witness, witness.why)];
  const { report } = witness;
  if (report === undefined || (witness.kind === 'gone' && !report.isFinal))
    return [doubtOfSilence('worker-died', witness, DIED)];
  const { error, gap, forgotten, isReady } = report;
  const unseen = `its witness did not look at the files for ${formatDuration(gap)}`;
  const doubts = [
    witness.kind === 'alive' && !isReady && doubt('not-started', worker, 'it has not started all its inputs'),
    error !== undefined && doubt('witness-failed', worker, error),
    gap > LONGEST_GAP && doubt('not-looked', worker, unseen),
    forgotten > 0 && doubt('forgotten', worker, `its witness had to forget ${counted(forgotten, 'fact')}`),
  ];
  return doubts.filter((one) => one !== false);
}

const DIED =
  'it ended without a last report: nobody knows what it held, or what happened to its files before the next worker';

/** What was left when the worker last answered may have been read or sent since then. */
function doubtOfSilence(
  kind: 'no-answer' | 'not-believed' | 'worker-died',
  witness: Witness,
  why: string,
): Doubt {
  const { before } = witness;
  const worker = nameOfWorker(witness);
  if (before === undefined || before.count === 0) return doubt(kind, worker, why);
  return doubt(kind, worker, `${why}. When it last answered: ${describeLeft(before)}`, before.bytes);
}

function doubtsOfPlugins(one: WorkerReport): readonly Doubt[] {
  const { messages, outputs, plugins: others } = one.report;
  const plugins = [...others, ...outputs];
  return [
    ...messages
      .filter((message) => !isHarmless(message, plugins))
      .map(({ level, text, file, n }) =>
        doubt('logged', file, `Fluentd logged ${n === 1 ? '' : `${n} times `}(${level}): ${text}`),
      ),
    ...doubtsOfReceipts(one),
    ...silentLosses(plugins).map(([about, why]) => doubt('no-ack', about, why)),
    ...plugins
      .filter(mayHold)
      .map((plugin) => doubt('may-hold', plugin.class, 'posidle does not know whether it keeps records')),
  ];
}

function distinct(doubts: readonly Doubt[]): readonly Doubt[] {
  return [...new Map(doubts.map((one) => [`${one.kind}\t${one.about}\t${one.why}`, one])).values()];
}
