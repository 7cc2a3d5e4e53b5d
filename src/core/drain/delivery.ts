import {
  describeHeld,
  type Held,
  NOTHING_HELD,
  type OutputReading,
  sumOf,
  UNNAMED,
} from '../fluentd/buffer-contents.ts';
import type { Observation } from '../observe/observation.ts';
import type { Account } from '../observe/output-account.ts';
import { type Ledger, mayHaveLost } from '../observe/output-ledger.ts';
import { counted } from '../text/units.ts';
import { waitingIn } from './gates.ts';
import type { DrainResult, Gate } from './state.ts';

/** What became of the lines that one output took. */
export interface OutputOutcome {
  readonly output: string;
  /** `unseen`: nobody can see whether they were delivered. */
  readonly delivery: 'delivered' | 'thrown away' | 'left' | 'unseen';
  /** Chunks and bytes that were thrown away, or left when Fluentd was told to stop. */
  readonly chunks: number;
  readonly bytes: number;
  /** The directory in which Fluentd put aside what it gave up. */
  readonly where?: string;
}

/** What became of what each output took; as far as the last look, taken when Fluentd is gone, and the ledger tell. */
export function deliveriesOf(seen: Observation, result: DrainResult | undefined): readonly OutputOutcome[] {
  const { ledger } = seen.memory;
  return (seen.buffers?.outputs ?? []).map((output) => deliveryOf(output, seen, ledger, result));
}

function deliveryOf(
  output: OutputReading,
  seen: Observation,
  ledger: Ledger,
  result: DrainResult | undefined,
): OutputOutcome {
  const account = ledger.accounts.get(output.key);
  const { lost, where } = thrownAwayBy(output, account, ledger);
  const named = { output: output.name };
  if (lost !== undefined) return { ...named, delivery: 'thrown away', ...lost, ...(where && { where }) };
  const left = sumOf([
    waitingIn({ ...output, told: undefined }, result?.flush, seen.at),
    inMemoryOf(account, result),
  ]);
  if (left.chunks > 0 || left.bytes > 0) return { ...named, delivery: 'left', ...left };
  const isOnDisk = output.onDisk !== undefined && output.retryLimit === undefined && !output.mayDrop;
  const isSeen = account === undefined ? isOnDisk : account.isCounted && !account.mayHaveGivenUp;
  const isKnown = isSeen && !output.isPipe && ledger.backupsUnknown === undefined;
  return { ...named, delivery: isKnown ? 'delivered' : 'unseen', ...NOTHING_HELD };
}

/** What was in memory when Fluentd was told to stop, or ended; whether its last flush delivered it, nobody can see. */
function inMemoryOf(account: Account | undefined, result: DrainResult | undefined): Held {
  const isEmpty =
    account === undefined || !account.inMemory || (result !== undefined && result.gate === undefined);
  return isEmpty ? NOTHING_HELD : account.held;
}

function thrownAwayBy({ id, onDisk }: OutputReading, account: Account | undefined, { givenUp }: Ledger) {
  const put = givenUp.filter(({ path }) => mayBeOf(account?.id ?? id, path));
  const aside = sumOf(put.map(({ size }) => ({ chunks: 1, bytes: size })));
  const counted = account?.thrownAway ?? NOTHING_HELD;
  const isLost = aside.chunks > 0 || counted.chunks > 0 || (account?.refused ?? 0) > 0;
  if (!isLost || (account === undefined && onDisk === undefined))
    return { lost: undefined, where: undefined };
  const lost = {
    chunks: Math.max(aside.chunks, counted.chunks),
    bytes: Math.max(aside.bytes, counted.bytes),
  };
  return { lost, where: put[0]?.path.replace(/\/[^/]*$/, '') };
}

/** Fluentd names the directory after the output's id, without characters that a file name cannot hold (`safe_owner_id` in buffer.rb). */
function mayBeOf(id: string | undefined, backup: string): boolean {
  const folder = backup.split('/').at(-2) ?? '';
  const own = id?.replace(/[ "/\\:;|*<>?]/g, '_');
  return own === undefined || (id === UNNAMED ? folder.startsWith(own) : folder === own);
}

/** The gate that names what outputs threw away; undefined: nothing that can be seen. */
export function thrownAwayGate(outputs: readonly OutputOutcome[]): Gate | undefined {
  const lost = outputs.filter(({ delivery }) => delivery === 'thrown away');
  if (lost.length === 0) return undefined;
  return { name: 'thrown-away', why: lost.map(describeLoss).join('; ') };
}

function describeLoss({ output, chunks, bytes, where }: OutputOutcome): string {
  const told = bytes === 0 ? counted(chunks, 'chunk') : describeHeld({ chunks, bytes });
  const what = chunks === 0 ? 'records that did not fit into its buffer' : told;
  return `thrown away by ${output}: ${what}${where === undefined ? '' : `; a copy lies in ${where}`}`;
}

/** What is known to be lost, or may be, though the last look finds nothing left. */
export function lossGate(seen: Observation, end: string, result: DrainResult | undefined): Gate | undefined {
  const { ledger } = seen.memory;
  const [full] = ledger.full;
  if (full !== undefined) {
    const more = ledger.full.length > 1 ? ` (and of ${counted(ledger.full.length - 1, 'other buffer')})` : '';
    return {
      name: 'buffers',
      why: `the disk of the buffer of ${full}${more} is full: Fluentd reads lines and cannot keep them`,
    };
  }
  const unknown = 'what became of the lines in its memory is not known';
  if (ledger.lostWithProcess)
    return { name: 'worker', why: `a Fluentd or a worker ended and another took its place; ${unknown}` };
  if (end === 'killed' && ledger.memory !== 'none')
    return { name: 'buffers', why: `Fluentd had to be killed; ${unknown}` };
  const flushedAt = result?.flush?.at;
  if (end === 'ended-by-itself' && mayHaveLost(ledger, seen, flushedAt)) {
    const before = flushedAt === undefined ? 'it was asked to flush' : 'its memory was seen empty';
    return { name: 'buffers', why: `Fluentd ended before ${before}; ${unknown}` };
  }
  return undefined;
}
