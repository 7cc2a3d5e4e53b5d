import { constants } from 'node:fs';
import { open, opendir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Question } from '../../core/progress/question.ts';
import type { Millis } from '../../core/text/units.ts';
import { isDone, parseReport, type Report } from '../../core/witness/answer.ts';
import type { Reports, Witness } from '../../core/witness/reports.ts';
import type { FluentdSign, WitnessOrder } from '../../host.ts';
import { roomIn } from '../files/files.ts';
import { inWords, isExhaustion } from '../files/in-words.ts';

/** A witness gives a sign of life at once. The rest may take longer on a busy machine or with very many files. */
const SILENCE: Millis = 2_000;
/** The longest time for one question. */
const TIMEOUT: Millis = 5_000;
/** For all answers to one question. 20,000 files take about 4 MB, and have about 200,000 values. */
const MOST_BYTES = 16 * 2 ** 20;
const MOST_VALUES = 400_000;
const SOCKET = /^\d+-\d+\.sock$/;
/** Each start of Fluentd leaves a socket, and a neighbour may leave any number of names. */
const MOST_NAMES = 10_000;
const MOST_WITNESSES = 1_000;
const CANNOT_BE_ASKED = 'its witness cannot be asked';
const CUT: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);
const GONE: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT']);

/**
 * The names of all sockets in a witness's directory, the oldest first. Each worker made one when it started. Rejects if the system cannot
 * open the directory: then nobody knows whether there is a witness.
 */
async function listWitnesses(dir: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    let looked = 0;
    for await (const { name } of await opendir(dir)) {
      if (SOCKET.test(name)) names.push(name);
      looked += 1;
      if (looked >= MOST_NAMES) break;
    }
  } catch (error) {
    if (isExhaustion(error)) throw error;
    return [];
  }
  return names.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}

/**
 * Asks every witness. `patience`: how long posidle waits for the first byte, at most 2 s. Never rejects: a witness that fails is
 * `silent`, with the reason.
 */
export async function askWitnesses(dir: string, question: Question, patience = SILENCE): Promise<Reports> {
  const at = performance.now();
  const names = await listWitnesses(dir).catch((error: Error) => error);
  if (names instanceof Error) {
    const why = `${CANNOT_BE_ASKED}: ${inWords(names)}`;
    return { at, witnesses: [{ worker: dir, kind: 'silent', why, isBusy: true }] };
  }
  const budget = newBudget();
  const ask = (name: string) => askOne(dir, name, question, budget, patience);
  const newest = await Promise.all(names.slice(-MOST_WITNESSES).map(ask));
  // The older ones are too many to ask.
  const unasked = names
    .slice(-MOST_WITNESSES - 1, -MOST_WITNESSES)
    .map((worker) => ({ worker, kind: 'gone', report: undefined }) as const);
  return { at, witnesses: [...unasked, ...newest] };
}

/**
 * What the directory shows of Fluentd. A busy witness is not gone, and one may listen while the system can open nothing. A socket that
 * posidle may not open shows nothing. Where no worker made one, no Fluentd has ended: an entry point may run another Ruby program first.
 */
export async function lookForFluentd(dir: string): Promise<FluentdSign> {
  const names = await listWitnesses(dir).catch(() => undefined);
  if (names === undefined) return 'listening';
  const newest = names.slice(-MOST_WITNESSES);
  const answers = await Promise.all(newest.map((name) => exchange(join(dir, name), '')));
  if (answers.some(({ text, isBusy }) => text !== undefined || isBusy)) return 'listening';
  const fifo = await open(
    join(dir, 'lives'),
    constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW,
  ).catch((error: NodeJS.ErrnoException) => error);
  // ENXIO: a FIFO without a reader cannot be opened for writing (fifo(7)).
  if (fifo instanceof Error)
    return isExhaustion(fifo) ? 'listening' : fifo.code === 'ENXIO' && names.length > 0 ? 'ended' : 'unknown';
  const isFifo = (await fifo.stat().catch(() => undefined))?.isFIFO() ?? false;
  await fifo.close();
  return isFifo ? 'starting' : 'unknown';
}

/** Whether the order was done. */
export async function tellWitness(
  dir: string,
  worker: string,
  word: WitnessOrder,
  patience = SILENCE,
): Promise<boolean> {
  const answer = await exchange(join(dir, worker), word, newBudget(), patience);
  return answer.text !== undefined && isDone(answer.text);
}

async function askOne(
  dir: string,
  worker: string,
  question: Question,
  budget: Budget,
  patience: Millis,
): Promise<Witness> {
  const [path, end] = [join(dir, worker), performance.now() + patience];
  let answer = await exchange(path, question, budget, patience);
  // The worker ends: one connection breaks off with the witness's thread, the next one with its socket, and then nobody listens.
  for (let times = 0; times < 2 && answer.isCut && performance.now() < end; times += 1)
    answer = await exchange(path, question, budget, end - performance.now());
  const { text, why, isCut = false, isBusy = isCut } = answer;
  if (why !== undefined) return { worker, kind: 'silent', why, isBusy };
  if (text === undefined) {
    const last = await lastReportOf(dir, worker, budget).catch(() => undefined);
    return { worker, kind: 'gone', report: last };
  }
  const report = parseReport(text);
  if (!('notBelieved' in report)) return { worker, kind: 'alive', report };
  const notBelieved = `posidle does not believe its witness: ${report.notBelieved}`;
  return { worker, kind: 'silent', why: notBelieved, isBusy };
}

/** A neighbour may have put anything there, so posidle follows no link, waits for no FIFO and reads no more than the size that it saw. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function lastReportOf(dir: string, worker: string, budget: Budget): Promise<Report | undefined> {
  await using file = await open(join(dir, worker.replace(/sock$/, 'end')), FLAGS);
  const stat = await file.stat();
  if (!stat.isFile() || stat.nlink > 1 || stat.size > budget.bytes) return undefined;
  budget.bytes -= stat.size;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(stat.size));
  const word = buffer.subarray(0, bytesRead);
  budget.values -= valuesIn(word);
  if (budget.values < 0) return undefined;
  const report = parseReport(word.toString());
  return 'notBelieved' in report ? undefined : report;
}

/** With neither `text` nor `why`, nobody listens any more. */
interface Exchange {
  readonly text?: string;
  /** Why there is no text. */
  readonly why?: string;
  readonly isBusy?: boolean;
  /** The other end has closed the connection before a whole line came. */
  readonly isCut?: boolean;
}

/** What is left for the answers to one question. */
type Budget = ReturnType<typeof newBudget>;

function newBudget(room = roomIn()) {
  return { bytes: Math.min(MOST_BYTES, room / 8), values: Math.min(MOST_VALUES, room / 256) };
}

const [COMMA, BRACKET, BRACE] = Buffer.from(',[{');

/** The values in a text, or more: JSON.parse takes up to 140 bytes of memory for each. Only commas and brackets bring another value. */
function valuesIn(json: Buffer): number {
  let values = 0;
  for (const byte of json) if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1;
  return values;
}

/** Sends one word and receives one line. An empty word only connects. */
function exchange(path: string, word: string, budget = newBudget(), patience = SILENCE): Promise<Exchange> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ path, allowHalfOpen: true });
    const end = (result: Exchange) => {
      clearTimeout(silent);
      clearTimeout(late);
      socket.destroy();
      resolve(result);
    };
    const endAfter = (time: Millis) =>
      setTimeout(
        () =>
          end({ why: `its witness did not answer within ${Math.round(time / 100) / 10} s`, isBusy: true }),
        time,
      );
    const [silent, late] = [endAfter(Math.min(patience, SILENCE)), endAfter(TIMEOUT)];
    socket.once('connect', () => (word === '' ? end({ text: '' }) : socket.write(`${word}\n`)));
    socket.on('data', (chunk: Buffer) => {
      clearTimeout(silent);
      chunks.push(chunk);
      budget.bytes -= chunk.length;
      budget.values -= valuesIn(chunk);
      if (budget.bytes < 0 || budget.values < 0) end({ why: 'the answer of its witness is too long' });
    });
    socket.once('end', () => {
      const text = Buffer.concat(chunks).toString();
      end({ text, isCut: !text.endsWith('\n') });
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (GONE.has(error.code)) return end({});
      // EAGAIN: the queue of the socket is full, so somebody listens (connect(2)).
      const isCut = CUT.has(error.code);
      const isBusy = isCut || error.code === 'EAGAIN' || isExhaustion(error);
      end({ why: `${CANNOT_BE_ASKED}: ${error.message}`, isBusy, isCut });
    });
  });
}
