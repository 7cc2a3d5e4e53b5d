import { describe, expect, test } from 'vitest';
import {
  deliveriesOf,
  lossGate,
  type OutputOutcome,
  thrownAwayGate,
} from '../../../src/core/drain/delivery.ts';
import type { DrainResult, Gate } from '../../../src/core/drain/state.ts';
import {
  type BuffersReading,
  NO_BUFFERS,
  NOTHING_HELD,
  type OutputReading,
  UNNAMED,
} from '../../../src/core/fluentd/buffer-contents.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { entry, outputReading, running, seen, snapshot, told } from '../../support/builders.ts';

const NOTHING = { chunks: 0, bytes: 0 };
const held = (chunks: number, sent = 0) => ({ told: told({ chunks, sent, bytes: 10 * chunks }) });
const gone = { told: undefined };
const onDisk = (...sizes: readonly number[]): Partial<OutputReading> => ({
  inMemory: false,
  onDisk: sizes.map((size) => ({ path: `/buffer/${size}`, size, age: 5_000 })),
});
const backups = (...paths: readonly string[]) => ({
  backups: paths.map((path) => ({ path, size: 7, age: 0 })),
});
const OPEN: Gate = { name: 'buffers', why: '1 chunk in out' };
const isClean = { gate: undefined };
const isCut = { gate: OPEN };

interface Row {
  readonly title: string;
  /** What each look finds of the output; the last one is taken when Fluentd is gone. */
  readonly looks: readonly Partial<OutputReading>[];
  /** What the last look finds beside it. */
  readonly last?: Partial<BuffersReading>;
  readonly result?: Partial<DrainResult>;
  readonly outcome: Omit<OutputOutcome, 'output'>;
}

describe('what became of the lines of an output', () => {
  test.each<Row>([
    {
      title: 'is delivered where its memory was seen empty',
      looks: [held(1), held(0, 1), gone],
      outcome: { delivery: 'delivered', ...NOTHING },
    },
    {
      title: 'is delivered where its disk is empty',
      looks: [{ ...onDisk(), ...gone }],
      outcome: { delivery: 'delivered', ...NOTHING },
    },
    {
      title: 'is unseen where nobody tells of its memory',
      looks: [gone, gone],
      outcome: { delivery: 'unseen', ...NOTHING },
    },
    {
      title: 'is unseen where its disk is empty, but it gives up after some retries',
      looks: [
        { ...onDisk(), ...gone, retryLimit: { times: 3, timeout: Number.POSITIVE_INFINITY, threads: 1 } },
      ],
      outcome: { delivery: 'unseen', ...NOTHING },
    },
    {
      title:
        'is delivered where it would give up after some retries, and a monitor_agent tells that it did not',
      looks: [
        { ...onDisk(5), ...held(1), retryLimit: { times: 3, timeout: Number.POSITIVE_INFINITY, threads: 1 } },
        { ...onDisk(), ...gone, retryLimit: { times: 3, timeout: Number.POSITIVE_INFINITY, threads: 1 } },
      ],
      outcome: { delivery: 'delivered', ...NOTHING },
    },
    {
      title: 'is left where chunks lie on disk',
      looks: [{ ...onDisk(5, 6), ...gone }],
      outcome: { delivery: 'left', chunks: 2, bytes: 11 },
    },
    {
      title: 'is left where its memory held chunks, and the drain was cut short',
      looks: [held(2), gone],
      result: isCut,
      outcome: { delivery: 'left', chunks: 2, bytes: 20 },
    },
    {
      title: 'is delivered where chunks came into its memory after a clean drain: Fluentd’s own, of the stop',
      looks: [held(2), gone],
      outcome: { delivery: 'delivered', ...NOTHING },
    },
    {
      title: 'is not left in memory where the buffer is on disk, and the disk is empty',
      looks: [
        { ...onDisk(5), ...held(1) },
        { ...onDisk(), ...gone },
      ],
      result: isCut,
      outcome: { delivery: 'delivered', ...NOTHING },
    },
    {
      title: 'is delivered where only Fluentd’s own log events of after the flush lie on disk',
      looks: [{ ...onDisk(5), ...gone, takesOwnEvents: true }],
      result: { flush: { at: -6_000, buffers: undefined } },
      outcome: { delivery: 'delivered', ...NOTHING },
    },
    {
      title: 'is thrown away where chunks were gone without being sent',
      looks: [held(3), held(3), held(1), held(1), gone],
      outcome: { delivery: 'thrown away', chunks: 2, bytes: 20 },
    },
    {
      title: 'is left where its memory held one chunk without a byte, and the drain was cut short',
      looks: [{ told: told({ chunks: 1 }) }, gone],
      result: isCut,
      outcome: { delivery: 'left', chunks: 1, bytes: 0 },
    },
    {
      title: 'is left where its memory held one byte in no chunk, and the drain was cut short',
      looks: [{ told: told({ bytes: 1 }) }, gone],
      result: isCut,
      outcome: { delivery: 'left', chunks: 0, bytes: 1 },
    },
    {
      title: 'is unseen where nobody counts what it drops, though it was never seen to fail',
      looks: [
        { mayDrop: true, told: told() },
        { mayDrop: true, ...gone },
      ],
      outcome: { delivery: 'unseen', ...NOTHING },
    },
    {
      title: 'is thrown away where one chunk was gone without being sent',
      looks: [held(2), held(2), held(1), held(1), gone],
      outcome: { delivery: 'thrown away', chunks: 1, bytes: 10 },
    },
    {
      title: 'is thrown away where records did not fit into the buffer once',
      looks: [held(0), { told: told({ emitErrors: 1 }) }, gone],
      outcome: { delivery: 'thrown away', ...NOTHING },
    },
    {
      title: 'is thrown away, though chunks are left as well',
      looks: [held(3), held(3), held(1), held(1), gone],
      result: isCut,
      outcome: { delivery: 'thrown away', chunks: 2, bytes: 20 },
    },
    {
      title: 'is thrown away where records did not fit into the buffer',
      looks: [held(0), { told: told({ emitErrors: 2 }) }, gone],
      outcome: { delivery: 'thrown away', ...NOTHING },
    },
    {
      title: 'is thrown away where Fluentd put chunks of it aside, and says where',
      looks: [held(1), held(0, 1), gone],
      last: backups('/backup/worker0/out/1.log', '/backup/worker0/out/2.log'),
      outcome: { delivery: 'thrown away', chunks: 2, bytes: 14, where: '/backup/worker0/out' },
    },
    {
      title: 'is not thrown away by another output that put chunks aside',
      looks: [held(1), held(0, 1), gone],
      last: backups('/backup/worker0/other/1.log'),
      outcome: { delivery: 'delivered', ...NOTHING },
    },
    ...(
      [
        ['has an id', { id: 'out: 1' }, 'out__1', 'out'],
        ['has no id', { id: UNNAMED }, 'object_58c', 'out'],
        ['has an id that could not be evaluated', { id: undefined }, 'any', undefined],
      ] as const
    ).flatMap(([what, id, own, other]): Row[] => {
      const looks = [1, 2].map(() => ({ ...onDisk(), ...gone, ...id }));
      const where = `/backup/worker0/${own}`;
      const ofOther: Row = {
        title: `is not thrown away where it has no account, ${what}, and another Fluentd put chunks aside`,
        looks,
        last: backups(`/backup/worker0/${other}/1.log`),
        outcome: { delivery: 'delivered', ...NOTHING },
      };
      const ofOwn: Row = {
        title: `is thrown away where it has no account, ${what}, and chunks that may be its own were put aside`,
        looks,
        last: backups(`${where}/1.log`),
        outcome: { delivery: 'thrown away', chunks: 1, bytes: 7, where },
      };
      return other === undefined ? [ofOwn] : [ofOwn, ofOther];
    }),
    {
      title: 'is unseen where what Fluentd puts aside cannot be listed',
      looks: [held(1), held(0, 1), gone],
      last: { backupsUnknown: 'the chunks that Fluentd puts aside' },
      outcome: { delivery: 'unseen', ...NOTHING },
    },
    {
      title: 'is unseen where it has no account and no disk, whatever was put aside',
      looks: [gone, gone],
      last: backups('/backup/worker0/any/1.log'),
      outcome: { delivery: 'unseen', ...NOTHING },
    },
  ])('$title', ({ looks, last, result, outcome }) => {
    const observed = observedIn(
      looks.map((one) => outputReading(one)),
      last,
    );
    expect(deliveriesOf(observed, resultOf(result))).toEqual([{ output: 'out', ...outcome }]);
  });

  test('is found aside by its id, without what a file name cannot hold', () => {
    const looks = [held(0), gone].map((one) => outputReading(one));
    const named = looks.map((one) => ({ ...one, told: one.told && told({ id: 'object:58c' }) }));
    const observed = observedIn(named, backups('/backup/worker0/object_58c/1.log'));
    expect(deliveriesOf(observed, resultOf())).toMatchObject([{ where: '/backup/worker0/object_58c' }]);
  });
});

describe('the gate of what was thrown away', () => {
  const thrown = (changes: Partial<OutputOutcome> = {}): OutputOutcome => ({
    output: 'out',
    delivery: 'thrown away',
    chunks: 2,
    bytes: 20,
    ...changes,
  });

  test.each<[string, readonly OutputOutcome[], string | undefined]>([
    ['is none where all was delivered', [thrown({ delivery: 'delivered' })], undefined],
    ['names chunks', [thrown()], 'thrown away by out: 2 chunks (20 B)'],
    ['names no size that nobody knows', [thrown({ bytes: 0 })], 'thrown away by out: 2 chunks'],
    ['names the copy', [thrown({ where: '/b' })], 'thrown away by out: 2 chunks (20 B); a copy lies in /b'],
    [
      'names records',
      [thrown({ chunks: 0, bytes: 0 })],
      'thrown away by out: records that did not fit into its buffer',
    ],
    [
      'names each output',
      [thrown(), thrown({ output: 'other', delivery: 'left' }), thrown({ output: 'third' })],
      'thrown away by out: 2 chunks (20 B); thrown away by third: 2 chunks (20 B)',
    ],
  ])('%s', (_, outputs, why) => {
    expect(thrownAwayGate(outputs)).toEqual(why && { name: 'thrown-away', why });
  });
});

describe('the gate of what may be lost', () => {
  const replaced = { fluentd: running({ workers: [{ pid: 9, startTime: '9' }] }) };
  const unknown = 'what became of the lines in its memory is not known';
  const memory = [outputReading(held(1)), outputReading(held(1))];
  const disk = [outputReading({ ...onDisk(), ...held(0) })];

  test.each<{
    title: string;
    outputs?: readonly OutputReading[];
    last?: Partial<BuffersReading>;
    look?: Partial<Snapshot>;
    end?: string;
    flush?: DrainResult['flush'];
    gate: Gate | undefined;
  }>([
    { title: 'is none after a clean stop', gate: undefined },
    {
      title: 'names a full disk',
      last: { full: ['out'] },
      gate: {
        name: 'buffers',
        why: 'the disk of the buffer of out is full: Fluentd reads lines and cannot keep them',
      },
    },
    {
      title: 'counts one more full disk',
      last: { full: ['out', 'b'] },
      gate: {
        name: 'buffers',
        why: 'the disk of the buffer of out (and of 1 other buffer) is full: Fluentd reads lines and cannot keep them',
      },
    },
    {
      title: 'counts more full disks',
      last: { full: ['out', 'b', 'c'] },
      gate: {
        name: 'buffers',
        why: 'the disk of the buffer of out (and of 2 other buffers) is full: Fluentd reads lines and cannot keep them',
      },
    },
    {
      title: 'names a worker that was replaced with lines in its memory',
      look: replaced,
      gate: { name: 'worker', why: `a Fluentd or a worker ended and another took its place; ${unknown}` },
    },
    {
      title: 'is none where a worker was replaced and the buffers are on disk',
      outputs: disk,
      look: replaced,
      gate: undefined,
    },
    {
      title: 'names the memory of a Fluentd that was killed',
      end: 'killed',
      gate: { name: 'buffers', why: `Fluentd had to be killed; ${unknown}` },
    },
    {
      title: 'is none where a Fluentd was killed whose buffers are on disk',
      outputs: disk,
      end: 'killed',
      gate: undefined,
    },
    {
      title: 'names the memory of a Fluentd that ended before a flush',
      end: 'ended-by-itself',
      gate: { name: 'buffers', why: `Fluentd ended before it was asked to flush; ${unknown}` },
    },
    {
      title: 'is none where a Fluentd ended after a flush, with its memory seen empty',
      outputs: [outputReading(held(1)), outputReading(held(0))],
      end: 'ended-by-itself',
      flush: { at: 0, buffers: undefined },
      gate: undefined,
    },
    {
      title: 'names the memory of a Fluentd that ended after a flush, before its memory was seen empty',
      end: 'ended-by-itself',
      flush: { at: 0, buffers: undefined },
      gate: { name: 'buffers', why: `Fluentd ended before its memory was seen empty; ${unknown}` },
    },
  ])('$title', ({ outputs = memory, last, look, end = 'stopped', flush, gate }) => {
    expect(lossGate(observedIn(outputs, last, look), end, resultOf({ flush }))).toEqual(gate);
  });
});

/** One look a second at the output; the last one shows what is left. */
function observedIn(
  outputs: readonly OutputReading[],
  last: Partial<BuffersReading> = {},
  look: Partial<Snapshot> = {},
) {
  const looks = outputs.map((output, index) => {
    const isLast = index === outputs.length - 1;
    const buffers = { ...NO_BUFFERS, none: false, outputs: [output], ...(isLast && last) };
    const asked = !isLast || output.told !== undefined;
    return snapshot(1_000 * index, [[entry()]], { buffers: { ...buffers, asked }, ...(isLast && look) });
  });
  return seen(looks);
}

function resultOf(changes: Partial<DrainResult> = {}): DrainResult {
  const trigger = { by: 'http', at: 0 } as const;
  return { trigger, held: NOTHING_HELD, flush: undefined, ...isClean, ...changes };
}
