import { heldIn } from '../fluentd/buffer-contents.ts';
import type { Witnessed } from '../observe/observation.ts';
import { describeLeft, type Left } from '../progress/progress.ts';
import { verdictOf, type Word } from '../progress/verdict.ts';
import type { OutputOutcome } from './delivery.ts';
import type { Gate, State } from './state.ts';

const WORST = 10;
const GATES: Readonly<Record<Left['kind'], Gate['name']>> = {
  starting: 'worker',
  unfound: 'undiscovered',
  unreadable: 'unreadable',
  unread: 'unread',
  unfinished: 'unread',
  'let-go': 'unread',
  kept: 'buffers',
  held: 'buffers',
};

/** What of an outcome a witness tells; it replaces what was seen from outside, `word` there. */
export function toldByWitness(
  { progress, isWhole }: Witnessed,
  { end, result }: Pick<Extract<State, { name: 'stopped' }>, 'end' | 'result'>,
  word: Word,
) {
  if (end.kind === 'dry-run') return {};
  const verdict = verdictOf(progress, result?.owed, end.kind === 'left-to-kubelet');
  const { left } = verdict;
  const doubts = verdict.doubts.toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0)).slice(0, WORST);
  const doubted = verdict.doubts.length;
  // Of a worker whose witness is silent only the outside tells.
  if (!isWhole) return { doubts, doubted, drained: word === 'drained' ? ('unproven' as const) : word };
  const [first] = left;
  const files = left.flatMap((one) => ('path' in one ? [one] : []));
  return {
    drained: end.kind === 'survived' ? ('not drained' as const) : verdict.word,
    gate: first === undefined ? null : { name: GATES[first.kind], why: describeLeft(left) },
    outputs: progress.outputs.map((output) => outputIn(output, left, doubted > 0)),
    doubts,
    doubted,
    left: {
      files: files.length,
      bytes: files.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
      worst: files
        .toSorted((a, b) => (b.bytes ?? Number.MAX_VALUE) - (a.bytes ?? Number.MAX_VALUE))
        .slice(0, WORST)
        .map(({ path, bytes, kind }) => ({ path, lag: bytes ?? null, state: kind })),
      onDisk: heldIn(undefined),
      held: heldBy(left),
      unseen: [],
    },
  };
}

function outputIn(output: string, left: readonly Left[], isDoubted: boolean): OutputOutcome {
  const held = heldBy(left.filter((one) => one.kind === 'held' && one.output === output));
  const isLeft = held.chunks > 0 || held.bytes > 0;
  return { output, delivery: isLeft ? 'left' : isDoubted ? 'unseen' : 'delivered', ...held };
}

function heldBy(left: readonly Left[]): { readonly chunks: number; readonly bytes: number } {
  const held = left.flatMap((one) => (one.kind === 'held' ? [one] : []));
  const sum = (of: (one: (typeof held)[number]) => number) => held.reduce((total, one) => total + of(one), 0);
  return { chunks: sum(({ chunks }) => chunks), bytes: sum(({ bytes }) => bytes) };
}
