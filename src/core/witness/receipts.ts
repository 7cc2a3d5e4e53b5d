/** Turns the numbers that the witnesses counted into doubts, and into the sums for people. */
import { type Doubt, type Receipt, WAYS, type Way } from '../progress/progress.ts';
import { groupedBy, sum } from '../text/lists.ts';
import { counted } from '../text/units.ts';
import { nameOf, nameOfWorker, type OutputReport, type WorkerReport } from './answer.ts';
import { doubt } from './doubts-of-files.ts';

/** The last numbers of each output. A closed buffer has told its own in `ends`. */
function outputsOf({ kind, report }: WorkerReport): readonly OutputReport[] {
  return [...report.ends, ...report.outputs.filter(({ buffer }) => kind === 'alive' || buffer === 'none')];
}

/** What is counted to be lost. A balance proves nothing while records are on their way. */
export function doubtsOfReceipts(one: WorkerReport): readonly Doubt[] {
  const { kind, report } = one;
  const worker = nameOfWorker(one);
  const outputs = outputsOf(one).filter(({ receipt }) => !receipt.isOwn);
  const missing = report.movingThreads > 0 ? [] : outputs.filter(({ receipt }) => missingIn(receipt) !== 0);
  const lost = report.refused + sum(missing.map(({ receipt }) => missingIn(receipt)));
  const where = [...new Set(missing.map(nameOf))].join(', ');
  const { unrouted, unparsed } = report;
  return [
    ...outputs.flatMap(doubtsOfOutput),
    ...undelivered(worker, [[unrouted, 'lost (no <match> or rule for them)']]),
    ...(unparsed > 0 ? [doubt('undelivered', worker, `${counted(unparsed, 'line')} gave no record`)] : []),
    ...(report.refused > 0 || missing.length > 0
      ? [doubt('unbalanced', where || worker, imbalanceOf(lost))]
      : []),
    ...(kind === 'gone' && report.movingThreads > 0
      ? [doubt('kept', worker, 'it ended while its threads still emitted records')]
      : []),
  ];
}

function imbalanceOf(lost: number): string {
  if (lost > 0) return `${counted(lost, 'record')} not taken, or missing`;
  if (lost < 0) return `${counted(-lost, 'record')} more than it took`;
  return 'a batch was refused, and as many records are in a buffer';
}

function doubtsOfOutput(output: OutputReport): readonly Doubt[] {
  const { drops, secondary = 0, aside = 0 } = output.receipt;
  return undelivered(nameOf(output), [
    [drops.exhausted, 'lost (retries used up)'],
    [drops.overflown, 'lost (its buffer was full)'],
    [drops.unrecoverable, 'lost (an error that no retry helps)'],
    [secondary, 'given to its secondary'],
    [aside, 'set aside'],
  ]);
}

function undelivered(about: string, ways: readonly (readonly [number, string])[]): readonly Doubt[] {
  return ways
    .filter(([records]) => records > 0)
    .map(([records, how]) => doubt('undelivered', about, `${counted(records, 'record')} ${how}`));
}

/** How many records more an output took than it accounts for; 0 if a number is unknown. */
function missingIn({ took, left, delivered, secondary, aside, dropped, held }: Pick<Receipt, Way>): number {
  const missing = Number(took) + Number(left) - sum([delivered, secondary, aside, dropped, held].map(Number));
  return Number.isNaN(missing) ? 0 : missing;
}

/** A worker without a witness is seen only in the answers of the others. */
export function doubtsOfWorkers(workers: readonly WorkerReport[]): readonly Doubt[] {
  const known = new Set(workers.map(({ report }) => report.worker));
  const most = mostWorkers(workers);
  if (known.has(undefined) || known.size >= most) return [];
  return [
    doubt(
      'unwitnessed',
      'Fluentd',
      `it has ${counted(most, 'worker')}, ${known.size} of them with a witness`,
    ),
  ];
}

/** How many workers do not run. `silent`: so many are up, and do not answer. */
export function awayOf(workers: readonly WorkerReport[], silent: number): number {
  const alive = workers.filter(({ kind }) => kind === 'alive');
  // A witness that failed does not say its worker's number.
  const up = new Set(alive.map(({ report, worker }) => report.worker ?? worker)).size + silent;
  return Math.max(0, mostWorkers(alive) - up);
}

/** How many workers Fluentd has, as they say. */
function mostWorkers(workers: readonly WorkerReport[]): number {
  return Math.max(1, ...workers.map(({ report }) => report.workers ?? 1));
}

/** The lines that all workers read; undefined if unknown. */
export function linesIn(workers: readonly WorkerReport[]): number | undefined {
  const lines = workers.flatMap(({ report }) => report.lines ?? []);
  return lines.length === 0 ? undefined : sum(lines);
}

/** Changes whenever a buffer may have taken a record of an input; undefined if one does not count them. */
export function takenIn(workers: readonly WorkerReport[]): number | undefined {
  const buffered = workers
    .flatMap(outputsOf)
    .filter(({ buffer, receipt }) => buffer !== 'none' && !receipt.isOwn);
  const taken = sum(buffered.map(({ receipt: { took = Number.NaN, own = 0 } }) => took - own));
  return Number.isNaN(taken) ? undefined : taken;
}

/** The sums of all workers for each output, also an output without a buffer if its numbers are known. */
export function receiptsIn(workers: readonly WorkerReport[]): readonly Receipt[] {
  const all = workers.flatMap((one) =>
    outputsOf(one)
      .filter(({ buffer, receipt }) => buffer !== 'none' || receipt.took !== undefined)
      .map((output) => ({ output, isOver: one.kind === 'gone' || output.buffer === 'reloaded' })),
  );
  return [...groupedBy(all, ({ output }) => nameOf(output))].map(([name, group]) => {
    const total = (way: Way, from: typeof all = group) =>
      totalOf(from.filter(({ output }) => !output.receipt.isOwn).map(({ output }) => output.receipt[way]));
    const over = group.filter(({ isOver }) => isOver);
    // What one worker held at its end is left over for the next one, and counts once.
    const passed = Math.max(0, Math.min(total('left') ?? 0, total('held', over) ?? 0));
    const once = (records: number | undefined) => records && records - passed;
    const totals = Object.fromEntries(WAYS.map((way) => [way, total(way)]));
    return { output: name, ...totals, left: once(total('left')), held: once(total('held')) };
  });
}

function totalOf(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.flatMap((one) => one ?? []);
  return known.length === 0 || known.length < numbers.length ? undefined : sum(known);
}
