import { expect, test } from 'vitest';
import { isFlushDue } from '../../../src/core/drain/flushing.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining, Gate } from '../../../src/core/drain/state.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import {
  ABSENT,
  draining,
  entry,
  fileOf,
  IN_MEMORY,
  onDisk,
  policy,
  REMOTE,
  running,
  seen,
  snapshot,
  WRAPPER,
} from '../../support/builders.ts';
import { holding } from '../../support/said.ts';
import { alive, SILENT } from '../../support/witnesses.ts';
import { MISSING, said } from '../worlds.ts';

interface World {
  readonly gate?: Gate['name'];
  readonly look?: Partial<Snapshot>;
  /** The same in the looks before it. */
  readonly before?: Partial<Snapshot>;
  readonly state?: Partial<Draining>;
  readonly rules?: Partial<Policy>;
  /** When the position moved last. */
  readonly movedAt?: number;
  /** An earlier look that found the same Fluentd. */
  readonly since?: number;
}

/** The look is taken at 100 s; the drain began at 90 s and has its deadline at 390 s. */
const NOW = 100_000;
const BEGAN = 90_000;
const DEADLINE = 390_000;
const LAST_FLUSH = DEADLINE - 10_000;
const CHUNKS = { look: { buffers: onDisk(10) } };
const flushed = (flushedAt: number) => ({ state: { flushedAt } });
const newcomer = running({ supervisor: { pid: 5_000, startTime: '9' } });
const UNREAD = { gate: 'unread' } as const;
const [SHORT, NEAR] = [{ drainTimeout: 12_000 }, { drainTimeout: 16_000 }];
const STARTING = running({ isStarting: true, workers: [{ pid: 5_000, startTime: '9' }] });
const SIGNALLED = { requests: [{ by: 'SIGTERM', at: 99_000 }] } as const;
const retrying = said(alive({ outputs: [{ ...holding('a'), retry: true }] }));

/** Whether a flush is asked for at this time, where a file has bytes left and the buffer in memory may hold lines. */
function isDue(world: World, at: number): boolean {
  const { gate = 'flush', look, before, state, rules, movedAt = BEGAN, since } = world;
  const file = (position: number) => [[entry({ position }), fileOf(entry({ position }), 200)]] as const;
  const early = since === undefined ? [] : [snapshot(since, file(100), look)];
  const looks = [
    snapshot(0, file(90), before),
    snapshot(movedAt, file(100), before),
    ...early,
    snapshot(NOW, file(100), { buffers: IN_MEMORY, ...look }),
  ];
  const began = draining({ since: BEGAN, trigger: { by: 'http', at: BEGAN }, ...state });
  return isFlushDue(began, { name: gate, why: '' }, { ...seen(looks, policy(rules)), at }, policy(rules));
}

const REACHED = { fluentd: REMOTE, ...said(alive({ outputs: [holding('a')] })) };
const EMITTING = { ...said(alive({ moving: 1, outputs: [holding('a')] })) };
const WITNESSED = { posFiles: [], ...said(alive({ outputs: [holding('a')] })) };

test.each<[string, World, number]>([
  ['at once, when everything is read', {}, NOW],
  ['at once, where only a buffer on disk holds chunks', CHUNKS, NOW],
  ['at once, while posidle waits for main', { ...CHUNKS, gate: 'main' }, NOW],
  [
    'again after 10 s, while posidle waits for main',
    { ...CHUNKS, ...flushed(95_000), gate: 'main' },
    105_000,
  ],
  ['again after 10 s, where chunks stay', { ...CHUNKS, ...flushed(95_000), gate: 'buffers' }, 105_000],
  ['of an unseen buffer, again where lines came in since', { ...flushed(97_000), movedAt: 98_000 }, NOW],
  ['where a full buffer may hold in_tail up: it has stood still for a tick', { gate: 'unread' }, 91_500],
  ['where a full buffer may hold up a thread that emits records', { ...UNREAD, look: EMITTING }, 91_500],
  ['again after 2 s, when everything is read', { ...CHUNKS, ...flushed(99_900) }, 101_900],
  ['not sooner than 2 s after the last one', { ...CHUNKS, ...flushed(99_000), gate: 'unfound' }, 101_000],
  ['shortly before the deadline, whatever else is closed', { gate: 'pos-file' }, LAST_FLUSH],
  [
    'before the deadline, but 2 s after the last one',
    { ...CHUNKS, ...flushed(379_000), gate: 'settle' },
    381_000,
  ],
  ['before the deadline, where in_tail goes on reading', { ...UNREAD, movedAt: NOW, rules: SHORT }, 96_000],
  ['before the deadline, where only a witness sees the unread', { ...UNREAD, look: WITNESSED }, LAST_FLUSH],
  ['half way to the deadline, where that is near', { gate: 'pos-file', rules: NEAR }, 98_000],
  ['half way through a grace period, where a signal came', { gate: 'pos-file', look: SIGNALLED }, 106_500],
  ['of a Fluentd in another container whose witness listens', { look: REACHED }, NOW],
  ['of one that is just starting, through its witness', { look: { ...REACHED, fluentd: STARTING } }, NOW],
  ['of a Fluentd whose pos file was removed', { look: MISSING, gate: 'pos-file' }, LAST_FLUSH],
  ['of a supervisor that has run for the settle time', { look: { fluentd: newcomer }, since: 98_000 }, NOW],
])('a flush is asked for %s', (_, world, at) => {
  expect(isDue(world, at)).toBe(true);
  if (at !== NOW) expect(isDue(world, at - 1)).toBe(false);
});

test.each<[string, World]>([
  ['where all that holds chunks retries: it sends them by itself', { look: retrying }],
  ['where no buffer holds or hides anything', { look: { buffers: onDisk() } }],
  ['where a buffer that nobody sees was flushed, and nothing moved since', flushed(95_000)],
  ['where lines came in at the very instant of the last one', { ...flushed(95_000), movedAt: 95_000 }],
  ['of a wrapper: it would die of SIGUSR1', { look: { fluentd: WRAPPER } }],
  ['of a Fluentd that is not there', { look: { fluentd: ABSENT } }],
  ['of a Fluentd that is not proven', { look: { fluentd: running({ proof: 'none' }) } }],
  ['of one in another container whose witness is silent', { look: { fluentd: REMOTE, ...said(SILENT) } }],
  ['of a Fluentd whose worker has not opened its pos file yet', { look: { fluentd: STARTING } }],
  ['of a Fluentd that has no pos file yet: it has only just begun', { look: MISSING, before: MISSING }],
  ['of a supervisor that has run for a shorter time', { look: { fluentd: newcomer }, since: 98_001 }],
])('no flush is asked for %s', (_, world) => {
  expect(isDue(world, DEADLINE)).toBe(false);
});
