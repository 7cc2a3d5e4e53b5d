/**
 * Turns the witnesses' statements into what is left and what is doubted. Each doubt comes from one fact; no two facts make a third. A later
 * fact about the same file or chunk, from any worker, removes a doubt.
 */
import { describeLeft, type Listed, listed } from '../progress/describe.ts';
import type { Doubt, Held, Left, Progress } from '../progress/progress.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../text/units.ts';
import { type FileSight, nameOf, type OutputSight, type Said } from './answer.ts';
import { doubt, doubtsOfSights, type Statement } from './doubts-of-files.ts';
import { judgeHeard } from './messages.ts';
import { doubtsOfReceipts, doubtsOfWorkers, linesIn, receiptsIn } from './receipts.ts';
import { Sights } from './sights.ts';
import { mayHold, silentLosses } from './silent-loss.ts';

/** The result of asking one witness. Each worker makes one socket when it starts. */
export type Witness = {
  readonly worker: string;
  /** What was left when it last answered, if it says nothing now. */
  readonly before?: Listed<Left> | undefined;
} & (
  | { readonly kind: 'alive'; readonly said: Said }
  /** Nobody listens at the socket any more. `said` is the last word, if there is one. */
  | { readonly kind: 'gone'; readonly said: Said | undefined }
  | { readonly kind: 'silent'; readonly why: string }
);

export interface Testimony {
  readonly at: Millis;
  readonly witnesses: readonly Witness[];
}

/** in_tail lets go of a renamed file after rotate_wait (5 s by default), so after a longer gap the witness may have missed one. */
const LONGEST_GAP: Millis = 5_000;

/** Whether every worker has answered or left its last word. */
export function isAnswered({ witnesses }: Testimony): boolean {
  const hasSaid = (one: Witness) =>
    (one.kind === 'alive' && one.said.error === undefined) ||
    (one.kind === 'gone' && one.said?.isFinal === true);
  return witnesses.length > 0 && witnesses.every(hasSaid);
}

/** Whether every worker has answered or has ended, well or not. */
export function isComplete({ witnesses }: Testimony): boolean {
  return witnesses.length > 0 && witnesses.every(({ kind }) => kind !== 'silent');
}

export function isAnyAlive({ witnesses }: Testimony): boolean {
  return witnesses.some(({ kind }) => kind === 'alive');
}

/** With what was left for each worker that says nothing now. `earlier`: the testimony of the look before. */
export function withLastAnswers(now: Testimony, earlier: Testimony | undefined): Testimony {
  const before = new Map(earlier?.witnesses.map((one) => [one.worker, one]));
  const witnesses = now.witnesses.map((one) =>
    one.kind === 'alive' || (one.kind === 'gone' && one.said !== undefined)
      ? one
      : { ...one, before: lastLeft(before.get(one.worker)) },
  );
  return { ...now, witnesses };
}

function lastLeft(witness: Witness | undefined): Listed<Left> | undefined {
  return witness?.kind === 'alive' ? listed(leftIn(witness, new Sights([]))) : witness?.before;
}

export function progressFromWitnesses(testimony: Testimony): Progress {
  const { at, witnesses } = testimony;
  const statements = witnesses.flatMap((one): readonly Statement[] =>
    one.kind === 'silent' || one.said === undefined ? [] : [{ ...one, said: one.said }],
  );
  const sights = new Sights(statements);
  const reached = sights.byInode();
  const ends = endsIn(statements);
  const isComplete = isAnswered(testimony);
  return {
    at,
    source: 'witness',
    left: [
      ...statements.flatMap((one) => leftIn(one, sights)),
      ...(isComplete ? ends.flatMap((end) => heldBy(end, 'none')) : []),
    ],
    doubts: distinct([
      ...witnesses.flatMap(doubtsOfWorker),
      ...neverStarted(statements),
      ...doubtsOfSights(statements, reached),
      ...statements.flatMap(doubtsOfPlugins),
      ...doubtsOfReloads(statements),
      ...statements.flatMap(({ kind, said }) =>
        [...said.ends, ...(kind === 'alive' && said.moving === 0 ? said.outputs : [])].flatMap(doubtOfCount),
      ),
      ...(isComplete ? doubtsOfWorkers(statements) : []),
      ...(isComplete ? [] : ends.map(doubtOfEnd)),
    ]),
    mark: `${sights.sum()} ${statements.reduce((sum, { said }) => sum + said.again, 0)}`,
    files: reached.size,
    movedAt: undefined,
    unseen: [],
    ignoresSigterm: statements.some(({ kind, said }) => kind === 'alive' && said.ignoresSigterm),
    busyUntil: Number.NEGATIVE_INFINITY,
    lines: linesIn(statements),
    outputs: receiptsIn(statements),
  };
}

/** A reload ends the buffers, but not the worker. Chunks that no later buffer took over are lost or forgotten. */
function doubtsOfReloads(statements: readonly Statement[]): readonly Doubt[] {
  const resumed = new Set(statements.flatMap(({ said }) => said.resumed));
  return statements
    .flatMap(({ said }) => said.ends)
    .filter(({ buffer }) => buffer === 'reloaded')
    .map((end) => onlyIds(end, (id) => !resumed.has(id)))
    .filter(({ chunks }) => chunks > 0)
    .map((end) =>
      doubt('reloaded', nameOf(end), `a reload ended its buffer with ${counted(end.chunks, 'chunk')} in it`),
    );
}

/** A buffer counts bytes, but has no chunk: Fluentd forgot one where it splits lines into chunks (buffer.rb, write_step_by_step), or counted wrong. */
function doubtOfCount(output: OutputSight): readonly Doubt[] {
  if (output.chunks > 0 || output.bytes === 0) return [];
  return [doubt('miscounted', nameOf(output), `its buffer counts ${formatBytes(output.bytes)} in no chunk`)];
}

/** The chunks in the workers' buffers when they ended, without those that a later buffer took over. */
function endsIn(statements: readonly Statement[]): readonly OutputSight[] {
  // The buffer that takes a chunk over either sends it or ends with it.
  const sent = new Set(statements.flatMap(sentBy));
  const lastWith = new Map(statements.flatMap((one) => endedWith(one).map((id) => [id, one] as const)));
  return statements
    .filter(({ kind }) => kind === 'gone')
    .flatMap((one) =>
      one.said.ends.map((end) => onlyIds(end, (id) => !sent.has(id) && lastWith.get(id) === one)),
    )
    .filter(({ chunks, buffer }) => chunks > 0 && buffer !== 'reloaded');
}

/** The chunks that a worker took over, and did not end with. */
function sentBy(one: Statement): readonly string[] {
  const ended = new Set(endedWith(one));
  return one.said.resumed.filter((id) => !ended.has(id));
}

/** The chunks in a worker's buffers when it ended. */
function endedWith({ kind, said: { ends } }: Statement): readonly string[] {
  return kind === 'gone' ? ends.flatMap(({ ids = [] }) => ids) : [];
}

function doubtOfEnd(end: OutputSight): Doubt {
  const why = `a worker ended with ${counted(end.chunks, 'chunk')} in its buffer, and one without a last word may have taken them over`;
  return doubt('worker-died', nameOf(end), why);
}

function leftIn({ kind, said }: Statement, sights: Sights): readonly Left[] {
  const isAlive = kind === 'alive';
  const closed = new Set(said.closed.map(({ key }) => key));
  return [
    ...said.unfound
      // An ended worker may have closed such a file itself, or a later one has found it.
      .filter(({ key, at }) => isAlive || (!closed.has(key) && sights.reachedSince(key, at) === undefined))
      .map(
        ({ path, size, isUnreadable }): Left => ({
          kind: isUnreadable ? 'unreadable' : 'unfound',
          path,
          bytes: size,
        }),
      ),
    ...(isAlive ? said.files.flatMap(unreadIn) : []),
    ...(isAlive && said.moving > 0 ? [{ kind: 'moving', threads: said.moving } as const] : []),
    ...said.closed.flatMap((file) => letGo(file, sights)),
    ...said.aside.map((path): Left => ({ kind: 'given-up', path, bytes: undefined })),
    ...(isAlive ? keptIn(said) : keptIn({ files: said.closed, kept: [] })),
    ...(isAlive
      ? said.outputs.flatMap((output) => heldBy(output, output.isRetrying ? 'retry' : 'flush'))
      : []),
  ];
}

function unreadIn({ path, position, size, unfinished, lines, isUnreadable }: FileSight): readonly Left[] {
  if (size === undefined) return lines > 0 ? [{ kind: 'unread', path, bytes: undefined }] : [];
  // in_tail has not noticed the truncation yet.
  if (size < position) return [{ kind: 'unread', path, bytes: size }];
  const bytes = size - position;
  if (lines === 0 && bytes <= 0) return [];
  if (isUnreadable) return [{ kind: 'unreadable', path, bytes }];
  if (lines === 0 && bytes <= unfinished) return [{ kind: 'unfinished', path, bytes }];
  return [{ kind: 'unread', path, bytes: Math.max(0, bytes) }];
}

/** Unread bytes of a closed file, even if they came after in_tail let go of it. */
function letGo(
  { path, key, position, size = position, unfinished, isUnreadable, at }: FileSight,
  sights: Sights,
): readonly Left[] {
  const bytes = size - (sights.reachedSince(key, at) ?? position);
  if (bytes <= 0 || sights.isFollowed(key)) return [];
  const kind = isUnreadable ? 'unreadable' : bytes <= unfinished ? 'unfinished' : 'let-go';
  return [{ kind, path, bytes }];
}

function keptIn({ files, kept }: Pick<Said, 'files' | 'kept'>): readonly Left[] {
  const records = files.filter(({ record }) => record > 0);
  return [
    ...records.map(
      ({ path, emitsAfter }): Left => ({
        kind: 'kept',
        where: `the multiline source of ${path}`,
        records: 1,
        emitsAfter,
      }),
    ),
    ...kept.map(
      ({ plugin, records, emitsAfter }): Left => ({ kind: 'kept', where: plugin, records, emitsAfter }),
    ),
  ];
}

function heldBy(output: OutputSight, next: Held['next']): readonly Left[] {
  const { chunks, bytes } = output;
  if (chunks === 0) return [];
  return [{ kind: 'held', output: nameOf(output), chunks, bytes, ids: output.ids, next }];
}

function onlyIds(output: OutputSight, isLeft: (id: string) => boolean): OutputSight {
  const ids = output.ids?.filter(isLeft);
  return ids === undefined ? output : { ...output, ids, chunks: ids.length };
}

/** Workers that ended before their inputs had started. A later one reads what they left. */
function neverStarted(statements: readonly Statement[]): readonly Doubt[] {
  if (statements.some(({ kind, said }) => kind === 'alive' || said.isReady)) return [];
  return statements.map(({ worker }) =>
    doubt('never-started', worker, 'it ended before its inputs had started'),
  );
}

function doubtsOfWorker(witness: Witness): readonly Doubt[] {
  const { worker } = witness;
  if (witness.kind === 'silent') return [doubtOfUnheard('no-answer', witness, witness.why)];
  const { said } = witness;
  if (said === undefined || (witness.kind === 'gone' && !said.isFinal))
    return [doubtOfUnheard('worker-died', witness, DIED)];
  const { error, gap, more, isReady } = said;
  const unseen = `its witness did not look at the files for ${formatDuration(gap)}`;
  const doubts = [
    witness.kind === 'alive' && !isReady && doubt('not-started', worker, 'it has not started all its inputs'),
    error !== undefined && doubt('not-heard', worker, error),
    gap > LONGEST_GAP && doubt('not-looked', worker, unseen),
    more > 0 && doubt('forgotten', worker, `its witness had to forget ${counted(more, 'fact')}`),
  ];
  return doubts.filter((one) => one !== false);
}

const DIED =
  'it ended without a last word: nobody knows what it held, or what happened to its files before the next worker';

/** What was left when the worker last answered may have been read or sent since then. */
function doubtOfUnheard(kind: 'no-answer' | 'worker-died', { worker, before }: Witness, why: string): Doubt {
  if (before === undefined || before.count === 0) return doubt(kind, worker, why);
  return doubt(kind, worker, `${why}. When it last answered: ${describeLeft(before)}`, before.bytes);
}

function doubtsOfPlugins(statement: Statement): readonly Doubt[] {
  const { heard, outputs, plugins: others } = statement.said;
  const plugins = [...others, ...outputs];
  const inNumbers = doubtsOfReceipts(statement);
  const isToldInNumbers = inNumbers.some(({ kind }) => kind === 'undelivered');
  return [
    ...heard.flatMap((message) => {
      const judgement = judgeHeard(message, plugins);
      if (judgement === 'harmless' || judgement === 'retry') return [];
      if (judgement === 'counted' && isToldInNumbers) return [];
      const { level, text, file, n } = message;
      return [doubt('heard', file, `Fluentd said ${n === 1 ? '' : `${n} times `}(${level}): ${text}`)];
    }),
    ...inNumbers,
    ...silentLosses(plugins).map((why) => doubt('no-ack', why.split(':')[0] ?? '', why)),
    ...[...others, ...outputs.filter(({ buffer }) => buffer === 'none')]
      .filter((plugin) => mayHold(plugin.class))
      .map((plugin) => doubt('may-hold', plugin.class, 'posidle does not know whether it keeps records')),
  ];
}

function distinct(doubts: readonly Doubt[]): readonly Doubt[] {
  return [...new Map(doubts.map((one) => [`${one.kind}\t${one.about}\t${one.why}`, one])).values()];
}
