import { describe, expect, test } from 'vitest';
import {
  describeOutcome,
  EXIT,
  exitCodeOf,
  isWarning,
  type Outcome,
  outcomeOf,
} from '../../../src/core/drain/outcome.ts';
import type { End, Gate } from '../../../src/core/drain/state.ts';
import { NO_BUFFERS, type OutputReading } from '../../../src/core/fluentd/buffer-contents.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import {
  ABSENT,
  entry,
  fileOf,
  outputReading,
  POS,
  running,
  seen,
  snapshot,
  told,
  type Watched,
} from '../../support/builders.ts';

const UNREAD: Gate = { name: 'unread', why: '1 file unread' };
const behind = entry({ path: '/behind', position: 10 });
const halfLine: Watched = [entry(), { atPath: { inode: '7', size: 104 }, newlineLeft: false }];

describe('an outcome', () => {
  test('is drained where no gate was open and the last look finds nothing left', () => {
    expect(outcome({ kind: 'stopped' })).toMatchObject({
      end: 'stopped',
      drained: 'drained',
      trigger: 'quiet',
      gate: null,
      left: { files: 0, bytes: 0, worst: [] },
    });
  });

  test('names the gate that was open when the drain ended, also where the last look finds nothing left', () => {
    expect(outcome({ kind: 'stopped' }, { gate: UNREAD })).toMatchObject({
      drained: 'not drained',
      gate: UNREAD,
    });
  });

  test('names what the last look finds, where the drain was clean', () => {
    const left = outcome({ kind: 'stopped' }, { files: [[behind, fileOf(behind, 30)]] });
    expect(left).toMatchObject({
      drained: 'not drained',
      gate: { name: 'unread' },
      left: { files: 1, bytes: 20 },
    });
  });

  test('is not drained where a file is unknown, and counts it', () => {
    expect(outcome({ kind: 'stopped' }, { files: [[behind, {}]] })).toMatchObject({
      drained: 'not drained',
      left: { files: 1, bytes: 0, worst: [{ path: '/behind', lag: null, state: 'missing' }] },
    });
  });

  test('is not drained where the pos file is unknown', () => {
    const posFiles = [{ path: POS, kind: 'unreadable', error: 'EIO' }] as const;
    expect(outcome({ kind: 'stopped' }, { look: { posFiles } })).toMatchObject({
      drained: 'not drained',
      gate: { name: 'pos-file' },
    });
  });

  test('is not drained where a file went away unread during the drain, and counts it', () => {
    const followed = [
      {
        posFile: POS,
        refreshInterval: 60_000,
        byInode: false,
        files: [{ path: '/new', inode: '8', size: 3 }],
      },
    ];
    const before = [snapshot(8_000, [[entry()]], { followed })];
    expect(outcome({ kind: 'stopped' }, { before })).toMatchObject({
      drained: 'not drained',
      gate: { name: 'unread', why: '1 file went away unread, 3 B, first /new' },
      left: { files: 1, bytes: 3, worst: [{ path: '/new', lag: 3, state: 'missing' }] },
    });
  });

  test.each([
    [true, { name: 'worker' }],
    [false, null],
  ])('where a worker was replaced and a buffer is in memory (%s) has the gate %o', (inMemory, gate) => {
    const runs = (pid: number) => running({ workers: [{ pid, startTime: '1' }] });
    const buffers = {
      ...NO_BUFFERS,
      none: false,
      outputs: [outputReading({ inMemory, told: told({ chunks: 1 }) })],
    };
    const before = [1, 2].map((pid) => snapshot(pid, [[entry()]], { fluentd: runs(pid), buffers }));
    const told_ = outcome({ kind: 'stopped' }, { before });
    if (gate === null) expect(told_).toMatchObject({ drained: 'drained', gate });
    else expect(told_).toMatchObject({ drained: 'not drained', gate });
  });

  test.each([
    [1, 'Fluentd may not read /new-0'],
    [10, `Fluentd may not read ${Array.from({ length: 10 }, (_, index) => `/new-${index}`).join(', ')}`],
    [12, /^Fluentd may not read \/new-0, .*\/new-9 and 2 more$/],
  ])('names the files that Fluentd may not read, ten of them at most: %i', (count, why) => {
    const paths = Array.from({ length: count }, (_, index) => `/new-${index}`);
    const files = paths.map((path, index) => ({ path, inode: String(10 + index), size: 3 }));
    const followed = [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }];
    const look = { followed, closed: new Set(paths) };
    const told = outcome({ kind: 'stopped' }, { before: [snapshot(-120_000, [[entry()]], look)], look });
    expect(told).toMatchObject({
      drained: 'not drained',
      gate: { name: 'unreadable' },
      left: { files: count },
    });
    expect(told.gate?.why).toEqual(typeof why === 'string' ? why : expect.stringMatching(why));
    expect(told.left.worst[0]).toEqual({ path: '/new-0', lag: 3, state: 'unreadable' });
  });

  test('lists the ten files with most left, what is unknown first', () => {
    const files = Array.from({ length: 12 }, (_, index): Watched => {
      const file = entry({ path: `/${index}`, position: 0 });
      return [file, index === 3 ? {} : fileOf(file, index + 1)];
    });
    const { worst, files: count } = outcome({ kind: 'stopped' }, { files }).left;
    expect(count).toBe(12);
    expect(worst.map(({ path }) => path)).toEqual([
      '/3',
      '/11',
      '/10',
      '/9',
      '/8',
      '/7',
      '/6',
      '/5',
      '/4',
      '/2',
    ]);
  });

  test.each([
    ['a buffer in memory', { outputs: [outputReading()] }],
    ['a buffer that nobody sees', { hidden: ['all'] }],
  ])('killed with %s is not drained, also where it was seen empty', (_, buffers) => {
    const look = { buffers: { ...NO_BUFFERS, none: false, ...buffers } };
    expect(outcome({ kind: 'killed' }, { look })).toMatchObject({
      drained: 'not drained',
      gate: {
        name: 'buffers',
        why: 'Fluentd had to be killed; what became of the lines in its memory is not known',
      },
    });
  });

  const limited = { inMemory: false, retryLimit: { times: 2, timeout: 60_000, threads: 1 } };
  const onDisk = { inMemory: false, onDisk: [] };
  const holding = { told: told({ chunks: 1 }) };
  test.each<[End['kind'], number, string, Partial<OutputReading>, string]>([
    ['ended-by-itself', 10, 'an output with a limit', limited, 'unproven'],
    ['killed', 10, 'an output with a limit', limited, 'unproven'],
    ['stopped', 10, 'an output with a limit', limited, 'unproven'],
    ['stopped', 10, 'an output with a buffer in memory', {}, 'unproven'],
    ['stopped', 10, 'an output with a buffer on disk', onDisk, 'drained'],
    ['stopped', 0, 'an output with a buffer in memory', {}, 'drained'],
    ['stopped', 0, 'an output that held a chunk in memory', holding, 'unproven'],
    [
      'stopped',
      0,
      'an output that held Fluentd’s own events',
      { ...holding, takesOwnEvents: true },
      'drained',
    ],
    ['ended-by-itself', 0, 'an output with a limit', limited, 'drained'],
    ['left-to-kubelet', 10, 'an output with a buffer in memory', {}, 'drained'],
  ])('%s, %i bytes after %s last told, is what can be proven', (kind, read, _, changes, drained) => {
    const outputs = [outputReading({ told: told(), ...changes })];
    const { position } = entry();
    const before = [
      snapshot(8_000, [[entry({ position: (position ?? 0) - read })]], {
        buffers: { ...NO_BUFFERS, none: false, asked: true, outputs },
      }),
    ];
    expect(outcome({ kind } as End, { before, flushedAt: 8_500 }).drained).toBe(drained);
  });

  test.each([
    [8_500, 'unproven'],
    [8_800, 'drained'],
  ])(
    'beside Fluentd’s own events, lines that were read at 8.8 s and flushed at %i ms are %s',
    (flushedAt, drained) => {
      const outputs = [outputReading({ ...holding, takesOwnEvents: true })];
      const buffers = { ...NO_BUFFERS, none: false, asked: true, outputs };
      const before = [90, 100].map((position, index) =>
        snapshot(8_000 + 800 * index, [[entry({ position })]], { buffers }),
      );
      expect(outcome({ kind: 'stopped' }, { before, flushedAt }).drained).toBe(drained);
    },
  );

  test.each(['killed', 'ended-by-itself'] as const)('%s may be drained', (kind) => {
    expect(outcome({ kind }).drained).toBe('drained');
  });

  test.each([
    { kind: 'survived' },
    { kind: 'dry-run' },
    { kind: 'no-fluentd', why: 'w' },
    { kind: 'not-permitted', why: 'w' },
    { kind: 'ambiguous', why: 'w' },
  ] as const)('$kind is never drained', (end) => {
    expect(outcome(end).drained).toBe('not drained');
  });
});

describe('the exit code', () => {
  test.each([
    [{ kind: 'stopped' }, 0],
    [{ kind: 'killed' }, 0],
    [{ kind: 'ended-by-itself' }, 0],
    [{ kind: 'dry-run' }, 0],
    [{ kind: 'ambiguous', why: '' }, 2],
    [{ kind: 'survived' }, 3],
    [{ kind: 'no-fluentd', why: '' }, 4],
    [{ kind: 'not-permitted', why: '' }, 5],
  ] as const)('of %j is %d, strict or not, where nothing is left', (end, code) => {
    expect([false, true].map((strict) => exitCodeOf(outcome(end), { strict }))).toEqual([code, code]);
  });

  test('of a bug is 1', () => {
    expect(EXIT.bug).toBe(1);
  });

  test('is 3 under --strict only, where lines are left', () => {
    const left = outcome({ kind: 'stopped' }, { files: [[behind, fileOf(behind, 30)]] });
    expect([false, true].map((strict) => exitCodeOf(left, { strict }))).toEqual([0, 3]);
  });

  test('is 3 under --strict where an unfinished last line is left, though the drain was clean', () => {
    const left = outcome({ kind: 'stopped' }, { files: [halfLine] });
    expect(left.drained).toBe('drained');
    expect(exitCodeOf(left, { strict: true })).toBe(3);
    expect([false, true].map((strict) => isWarning(left, { strict }))).toEqual([false, true]);
  });

  test('is 0 under --strict where an undiscovered file is empty: nothing of it is left', () => {
    const files = [{ path: '/new', inode: '9', size: 0 }];
    const followed = [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }];
    expect(exitCodeOf(outcome({ kind: 'stopped' }, { look: { followed } }), { strict: true })).toBe(0);
  });

  test('is 3 under --strict where an undiscovered file holds a line', () => {
    const files = [{ path: '/new', inode: '9', size: 5 }];
    const followed = [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }];
    expect(exitCodeOf(outcome({ kind: 'stopped' }, { look: { followed } }), { strict: true })).toBe(3);
  });

  test('is 0 after a dry run, and no warning, whatever is open', () => {
    const dry = outcome({ kind: 'dry-run' }, { gate: UNREAD });
    expect(dry.drained).toBe('not drained');
    expect(exitCodeOf(dry, { strict: true })).toBe(0);
    expect(isWarning(dry, { strict: true })).toBe(false);
  });

  test('is 3 under --strict where chunks are left on disk', () => {
    const onDisk = [{ path: '/b/q1', size: 10, age: 0 }];
    const buffers = { ...NO_BUFFERS, outputs: [outputReading({ onDisk, told: undefined })], none: false };
    expect(exitCodeOf(outcome({ kind: 'stopped' }, { look: { buffers } }), { strict: true })).toBe(3);
  });

  test('is 3 under --strict where one chunk, or one file, is left beside a drain that was clean', () => {
    const drained = outcome({ kind: 'stopped' });
    const left = (changes: Partial<Outcome['left']>) => ({
      ...drained,
      left: { ...drained.left, ...changes },
    });
    const codes = [left({}), left({ files: 1 }), left({ onDisk: { chunks: 1, bytes: 1 } })].map((told) =>
      exitCodeOf(told, { strict: true }),
    );
    expect(codes).toEqual([0, 3, 3]);
  });
});

test('everything that was read is unproven where one buffer is seen by nobody', () => {
  const look = { buffers: { ...NO_BUFFERS, none: false, hidden: ['all'] } };
  const unproven = outcome({ kind: 'stopped' }, { look });
  expect(unproven).toMatchObject({ drained: 'unproven', gate: null });
  expect(describeOutcome(unproven)).toMatch(
    /; unproven \(everything was read, but posidle cannot see whether it was delivered: all\)$/,
  );
});

test('one byte of an undiscovered file is left', () => {
  const files = [{ path: '/new', inode: '9', size: 1 }];
  const followed = [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }];
  expect(outcome({ kind: 'stopped' }, { look: { followed } }).left).toMatchObject({ files: 1, bytes: 1 });
});

describe('the sentence', () => {
  test('of a drained end has no more to say', () => {
    const drained = outcome({ kind: 'stopped' });
    expect(describeOutcome(drained)).toBe(`${drained.why} after 4.2 s; drained`);
  });

  test('of a Fluentd that survived says so', () => {
    expect(describeOutcome(outcome({ kind: 'survived' }))).toMatch(/; not drained \(Fluentd survived\)$/);
  });

  test.each([
    [undefined, /; everything is read$/],
    [UNREAD, /; unfinished: 1 file unread$/],
  ])('of a dry run with the gate %o says what would have come', (gate, text) => {
    expect(describeOutcome(outcome({ kind: 'dry-run' }, gate && { gate }))).toMatch(text);
  });

  test('counts what is left on disk', () => {
    const onDisk = [{ path: '/b/q1', size: 10, age: 0 }];
    const buffers = { ...NO_BUFFERS, outputs: [outputReading({ onDisk, told: undefined })], none: false };
    expect(describeOutcome(outcome({ kind: 'stopped' }, { look: { buffers } }))).toContain(
      '; left on disk: 1 chunk (10 B)',
    );
  });

  test('of a drained end says so and how long it took', () => {
    const text = describeOutcome(outcome({ kind: 'stopped' }));
    expect(text).toContain('drained');
    expect(text).not.toContain('not drained');
    expect(text).toContain('4.2 s');
  });

  test('of anything else names the gate and what is left where', () => {
    const left = outcome({ kind: 'killed' }, { gate: UNREAD, files: [[behind, fileOf(behind, 30)]] });
    expect(describeOutcome(left)).toMatch(/not drained.*unread.*20 B.*1 file.*\/behind/);
  });

  test('counts the time until Fluentd was killed', () => {
    const killed = { ...outcome({ kind: 'killed' }), durations: { stopping: 4_000, killing: 1_000 } };
    expect(describeOutcome(killed)).toContain('after 5.0 s');
  });

  test('tells what was held when Fluentd was told to stop, only where something was', () => {
    const left = outcome({ kind: 'stopped' }, { gate: UNREAD });
    expect(describeOutcome(left)).not.toContain('held when told to stop');
    const held = { ...left, left: { ...left.left, held: { chunks: 1, bytes: 7 } } };
    expect(describeOutcome(held)).toContain('in the buffers when Fluentd was told to stop: 1 chunk');
  });

  test('of an end without a drain is why', () => {
    expect(describeOutcome(outcome({ kind: 'no-fluentd', why: 'x' }))).toBe('why');
  });
});

interface Facts {
  /** Looks before the last one. */
  readonly before?: readonly Snapshot[];
  readonly gate?: Gate;
  readonly files?: readonly Watched[];
  readonly look?: Partial<Snapshot>;
  readonly flushedAt?: number;
}

function outcome(
  end: End,
  { gate, files = [[entry()]], look = {}, before = [], flushedAt }: Facts = {},
): Outcome {
  const trigger = { by: 'quiet', at: 0 } as const;
  const flush = flushedAt === undefined ? undefined : { at: flushedAt, buffers: undefined };
  const result = { trigger, gate, held: { chunks: 0, bytes: 0 }, flush };
  const stopped = { name: 'stopped', since: 9_000, end, result } as const;
  const last = seen([...before, snapshot(9_000, files, { fluentd: ABSENT, ...look })]);
  return outcomeOf(stopped, 'why', { seen: last, durations: { watching: 1_000, stopping: 4_200 } });
}
