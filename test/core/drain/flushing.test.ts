import { describe, expect, test } from 'vitest';
import { flushAt } from '../../../src/core/drain/flushing.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining, Gate } from '../../../src/core/drain/state.ts';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import {
  type BuffersReading,
  NO_BUFFERS,
  type OutputReading,
} from '../../../src/core/fluentd/buffer-contents.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import {
  ABSENT,
  entry,
  fileOf,
  ORPHANED,
  outputReading,
  policy,
  running,
  seen,
  snapshot,
  told,
} from '../../support/builders.ts';

interface World {
  readonly gate: Gate['name'];
  readonly look?: Partial<Snapshot>;
  readonly state?: Partial<Draining>;
  readonly rules?: Partial<Policy>;
  /** When the position moved last. */
  readonly movedAt?: number;
}

interface Row extends World {
  readonly title: string;
  readonly at: number | undefined;
}

/** The look is taken at 100 s; the drain began at 90 s and has its deadline at 390 s. */
const NOW = 100_000;
const BEGAN = 90_000;
const LAST_FLUSH = 380_000;
const HOLDS = buffersOf({ told: told({ chunks: 1, bytes: 10 }) });
const FULL = buffersOf({ told: told({ chunks: 1, bytes: 10, space: 5 }) });
const UNSEEN = buffersOf({ told: undefined });
const flushed = (at: number) => ({ flush: { at, buffers: undefined } });

describe('a flush is asked for', () => {
  test.each<Row>([
    { title: 'at once, when everything is read', gate: 'flush', at: NOW },
    {
      title: 'again 10 s after the last one, where chunks are left',
      gate: 'buffers',
      look: { buffers: HOLDS },
      state: flushed(95_000),
      at: 105_000,
    },
    {
      title: 'at once, where a full buffer holds in_tail up',
      gate: 'unread',
      look: { buffers: FULL },
      at: NOW,
    },
    {
      title: 'not sooner than 2 s after the last one, where a full buffer holds in_tail up',
      gate: 'unread',
      look: { buffers: FULL },
      state: flushed(99_000),
      at: 101_000,
    },
    {
      title: 'shortly before the deadline, where the buffer has room',
      gate: 'unread',
      look: { buffers: buffersOf({ told: told({ chunks: 1, bytes: 10, space: 6 }) }) },
      at: LAST_FLUSH,
    },
    {
      title: 'shortly before the deadline, where a full buffer holds no chunk that a flush would send',
      gate: 'unread',
      look: { buffers: buffersOf({ told: told({ space: 5 }) }) },
      at: LAST_FLUSH,
    },
    {
      title: 'where nobody sees the buffer, once in_tail has stood still for longer than its tick',
      gate: 'unread',
      look: { buffers: UNSEEN },
      at: 91_500,
    },
    {
      title: 'where nobody sees the buffer of an in_tail with a limit, once it is blocked',
      gate: 'unread',
      look: { buffers: UNSEEN },
      rules: { tail: { ...DEFAULT_TAIL, readLimit: 1_000 } },
      at: 100_000,
    },
    {
      title: 'shortly before the deadline, where files wait to be found',
      gate: 'undiscovered',
      look: { buffers: HOLDS },
      at: LAST_FLUSH,
    },
    {
      title: 'shortly before the deadline, whatever else is closed',
      gate: 'pos-file',
      look: { buffers: HOLDS },
      at: LAST_FLUSH,
    },
    {
      title: 'not sooner than 2 s after the last one, also before the deadline',
      gate: 'settle',
      look: { buffers: HOLDS },
      state: flushed(379_000),
      at: 381_000,
    },
    {
      title: 'not sooner than 2 s after the last one, where a full buffer may hold up a renamed file',
      gate: 'settle',
      look: { buffers: FULL },
      state: flushed(99_000),
      at: 101_000,
    },
    {
      title: 'half way to the deadline, where that is near',
      gate: 'pos-file',
      look: { buffers: HOLDS },
      rules: { drainTimeout: 16_000 },
      at: 98_000,
    },
    {
      title: 'for the rest of a grace period, where a signal came',
      gate: 'pos-file',
      look: { buffers: HOLDS, requests: [{ by: 'SIGTERM', at: 99_000 }] },
      at: 106_500,
    },
    {
      title: 'again where lines came in since, whatever the buffers hold',
      gate: 'flush',
      movedAt: 98_000,
      state: flushed(97_000),
      at: NOW,
    },
    {
      title: 'where one output retries and another one holds chunks',
      gate: 'retry',
      look: {
        buffers: {
          ...HOLDS,
          outputs: [
            ...HOLDS.outputs,
            outputReading({ key: '0 b', told: told({ chunks: 1, retrying: true }) }),
          ],
        },
      },
      state: flushed(95_000),
      at: LAST_FLUSH,
    },
    {
      title: 'where buffers may be hidden',
      gate: 'buffers',
      look: { buffers: { ...buffersOf({}), hidden: ['all buffers'] } },
      state: flushed(95_000),
      at: 105_000,
    },
    { title: 'of workers whose supervisor is gone', gate: 'flush', look: { fluentd: ORPHANED }, at: NOW },
    {
      title: 'of a Fluentd in another container',
      gate: 'flush',
      look: { fluentd: { kind: 'remote', permitted: true } },
      at: NOW,
    },
  ])('$title', ({ at, ...world }) => {
    expect(flushTime(world)).toBe(at);
  });
});

describe('no flush is asked for', () => {
  test.each<World & { title: string }>([
    {
      title: 'where all that holds chunks retries, and nothing moved since the last one',
      gate: 'retry',
      look: { buffers: buffersOf({ told: told({ chunks: 1, bytes: 10, retrying: true }) }) },
      state: flushed(95_000),
    },
    {
      title: 'where the buffers are empty, and nothing moved since the last one',
      gate: 'settle',
      state: flushed(95_000),
    },
    {
      title: 'where posidle has not looked at the buffers, and nothing moved since the last one',
      gate: 'settle',
      look: { buffers: undefined },
      state: flushed(95_000),
    },
    {
      title: 'of a wrapper: it would die of SIGUSR1',
      gate: 'flush',
      look: {
        fluentd: { kind: 'wrapper', leader: { pid: 1, startTime: '0' }, since: 0, permitted: true },
      },
    },
    { title: 'of a Fluentd that is not there', gate: 'fluentd', look: { fluentd: ABSENT } },
    {
      title: 'of a Fluentd that is not proven',
      gate: 'fluentd',
      look: { fluentd: running({ isProven: false }) },
    },
    {
      title: 'of a Fluentd whose worker has not opened its pos file yet',
      gate: 'flush',
      look: { fluentd: running({ isStarting: true, workers: [{ pid: 5_000, startTime: '9' }] }) },
    },
    {
      title: 'of a Fluentd whose pos file is not there yet: it has only just been started',
      gate: 'pos-file',
      look: { posFiles: [{ path: '/pos', kind: 'missing' }] },
    },
    {
      title: 'of a supervisor that took the place of another one a moment ago',
      gate: 'flush',
      look: { fluentd: running({ supervisor: { pid: 5_000, startTime: '9' } }) },
    },
    {
      title: 'where lines came in at the very instant of the last one, and the buffers are empty',
      gate: 'settle',
      movedAt: 95_000,
      state: flushed(95_000),
    },
    { title: 'where no output has a buffer', gate: 'unread', look: { buffers: NO_BUFFERS } },
    { title: 'in a dry run', gate: 'flush', rules: { dryRun: true } },
  ])('$title', (world) => {
    expect(flushTime(world)).toBeUndefined();
  });
});

test('a supervisor that took the place of another one is asked once it has run for the settle time', () => {
  const fluentd = running({ supervisor: { pid: 5_000, startTime: '9' } });
  const looks = [0, NOW, NOW + 1_999].map((at, index) =>
    snapshot(at, [[entry()]], { buffers: HOLDS, ...(index > 0 && { fluentd }) }),
  );
  const last = snapshot(NOW + 2_000, [[entry()]], { buffers: HOLDS, fluentd });
  const gate = { name: 'flush', why: '' } as const;
  expect(flushAt(draining(), gate, seen(looks), policy())).toBeUndefined();
  expect(flushAt(draining(), gate, seen([...looks, last]), policy())).toBe(NOW + 2_000);
});

test.each<[string, readonly Partial<OutputReading>[], boolean, number | undefined]>([
  ['not where its monitor_agent answered before and is silent now', [{ told: undefined }], true, undefined],
  [
    'not where that of one of two outputs is silent now',
    [{}, { key: '0 b', told: undefined }],
    true,
    undefined,
  ],
  ['where the monitor_agents were not asked this time', [{ told: undefined }], false, NOW],
  ['where all of them answer', [{}], true, NOW],
])('a flush is asked for, %s', (_, outputs, asked, at) => {
  const holding = told({ chunks: 1, bytes: 10 });
  const reading = (...all: readonly Partial<OutputReading>[]) => ({
    ...NO_BUFFERS,
    none: false,
    outputs: all.map((one) => outputReading({ told: holding, ...one })),
  });
  const looks = [
    snapshot(0, [[entry()]], { buffers: reading({}, { key: '0 b' }) }),
    snapshot(NOW, [[entry()]], { buffers: { ...reading(...outputs), asked } }),
  ];
  expect(flushAt(draining(), { name: 'flush', why: '' }, seen(looks), policy())).toBe(at);
});

/** When the flush is asked for in a world where a file has bytes left. */
function flushTime({ gate, look = {}, state = {}, rules = {}, movedAt = BEGAN }: World) {
  const at = (position: number) => entry({ position });
  const [before, moved] = [at(90), at(100)];
  const looks = [
    snapshot(0, [[before, fileOf(before, 200)]]),
    snapshot(movedAt, [[moved, fileOf(moved, 200)]]),
    snapshot(NOW, [[moved, fileOf(moved, 200)]], { buffers: buffersOf({}), ...look }),
  ];
  return flushAt(draining(state), { name: gate, why: '' }, seen(looks), policy(rules));
}

function draining(changes: Partial<Draining> = {}): Draining {
  const trigger = { by: 'http', at: BEGAN } as const;
  const nothingYet = { completed: false, flush: undefined, emptyAt: undefined, closingAt: undefined };
  return { name: 'draining', since: BEGAN, trigger, ...nothingYet, ...changes };
}

function buffersOf(output: Partial<OutputReading>): BuffersReading {
  return { ...NO_BUFFERS, none: false, outputs: [outputReading(output)] };
}
