import { describe, expect, test } from 'vitest';
import { flushAt } from '../../../src/core/drain/flushing.ts';
import type { Policy } from '../../../src/core/drain/policy.ts';
import type { Draining, Gate } from '../../../src/core/drain/state.ts';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import {
  ABSENT,
  draining,
  entry,
  fileOf,
  IN_MEMORY,
  ORPHANED,
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

interface World {
  readonly title: string;
  readonly gate?: Gate['name'];
  readonly look?: Partial<Snapshot>;
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
const LAST_FLUSH = 380_000;
const CHUNK = { buffers: onDisk(10) };
const flushedAt = (at: number) => ({ flushedAt: at });
const newcomer = running({ supervisor: { pid: 5_000, startTime: '9' } });
const retrying = {
  testimony: { at: NOW, witnesses: [alive({ outputs: [{ ...holding('a'), retry: true }] })] },
};

/** When the flush is asked for, where a file has bytes left and the buffer in memory may hold lines. */
function flushTime({ gate = 'flush', look, state, rules, movedAt = BEGAN, since }: World) {
  const file = (position: number) => [[entry({ position }), fileOf(entry({ position }), 200)]] as const;
  const early = since === undefined ? [] : [snapshot(since, file(100), look)];
  const looks = [
    snapshot(0, file(90)),
    snapshot(movedAt, file(100)),
    ...early,
    snapshot(NOW, file(100), { buffers: IN_MEMORY, ...look }),
  ];
  const began = draining({ since: BEGAN, trigger: { by: 'http', at: BEGAN }, ...state });
  return flushAt(began, { name: gate, why: '' }, seen(looks, policy(rules)), policy(rules));
}

describe('a flush is asked for', () => {
  test.each<World & { readonly at: number }>([
    { title: 'at once, when everything is read', at: NOW },
    { title: 'at once, where only a buffer on disk holds chunks', look: CHUNK, at: NOW },
    {
      title: 'again 10 s after the last one, where chunks are left',
      gate: 'buffers',
      look: CHUNK,
      state: flushedAt(95_000),
      at: 105_000,
    },
    {
      title: 'of a buffer that nobody sees, again where lines came in since',
      movedAt: 98_000,
      state: flushedAt(97_000),
      at: NOW,
    },
    {
      title: 'where a full buffer may hold in_tail up: it has stood still for longer than its tick',
      gate: 'unread',
      at: 91_500,
    },
    {
      title: 'where a full buffer may hold in_tail up below a limit: it is blocked',
      gate: 'unread',
      rules: { tail: { ...DEFAULT_TAIL, readLimit: 1_000 } },
      at: 100_000,
    },
    {
      title: 'not sooner than 2 s after the last one, where a full buffer may hold in_tail up',
      gate: 'unfound',
      look: CHUNK,
      state: flushedAt(99_000),
      at: 101_000,
    },
    { title: 'shortly before the deadline, whatever else is closed', gate: 'pos-file', at: LAST_FLUSH },
    {
      title: 'not sooner than 2 s after the last one, also before the deadline',
      gate: 'settle',
      look: CHUNK,
      state: flushedAt(379_000),
      at: 381_000,
    },
    {
      title: 'shortly before the deadline, where in_tail goes on reading',
      gate: 'unread',
      movedAt: NOW,
      rules: { drainTimeout: 12_000 },
      at: 96_000,
    },
    {
      title: 'shortly before the deadline, where only a witness sees what is unread',
      gate: 'unread',
      look: { posFiles: [], testimony: { at: NOW, witnesses: [alive({ outputs: [holding('a')] })] } },
      at: LAST_FLUSH,
    },
    {
      title: 'half way to the deadline, where that is near',
      gate: 'pos-file',
      rules: { drainTimeout: 16_000 },
      at: 98_000,
    },
    {
      title: 'half way through what is left of a grace period, where a signal came',
      gate: 'pos-file',
      look: { requests: [{ by: 'SIGTERM', at: 99_000 }] },
      at: 106_500,
    },
    { title: 'of workers whose supervisor is gone', look: { fluentd: ORPHANED }, at: NOW },
    {
      title: 'of a Fluentd in another container whose witness listens',
      look: { fluentd: REMOTE, testimony: { at: NOW, witnesses: [alive({ outputs: [holding('a')] })] } },
      at: NOW,
    },
    {
      title:
        'of a Fluentd that is just starting, through its witness: that passes it on only where it does no harm',
      look: {
        fluentd: running({ isStarting: true, workers: [{ pid: 5_000, startTime: '9' }] }),
        testimony: { at: NOW, witnesses: [alive({ outputs: [holding('a')] })] },
      },
      at: NOW,
    },
    {
      title: 'of a supervisor that has run for the settle time',
      look: { fluentd: newcomer },
      since: 98_000,
      at: NOW,
    },
  ])('$title', ({ at, ...world }) => {
    expect(flushTime(world)).toBe(at);
  });
});

describe('no flush is asked for', () => {
  test.each<World>([
    { title: 'where all that holds chunks retries: it sends them by itself', look: retrying },
    { title: 'where no buffer holds or hides anything', look: { buffers: onDisk() } },
    {
      title: 'where a buffer that nobody sees was flushed, and nothing moved since',
      state: flushedAt(95_000),
    },
    {
      title: 'where lines came in at the very instant of the last one',
      movedAt: 95_000,
      state: flushedAt(95_000),
    },
    { title: 'of a wrapper: it would die of SIGUSR1', look: { fluentd: WRAPPER } },
    { title: 'of a Fluentd that is not there', look: { fluentd: ABSENT } },
    { title: 'of a Fluentd that is not proven', look: { fluentd: running({ proof: 'none' }) } },
    { title: 'of a Fluentd that nobody can reach', look: { fluentd: { ...REMOTE, isDeaf: true } } },
    {
      title: 'of a Fluentd in another container whose witness is silent',
      look: { fluentd: REMOTE, testimony: { at: NOW, witnesses: [SILENT] } },
    },
    {
      title: 'of a Fluentd whose worker has not opened its pos file yet',
      look: { fluentd: running({ isStarting: true, workers: [{ pid: 5_000, startTime: '9' }] }) },
    },
    {
      title: 'of a Fluentd whose pos file is not there yet: it has only just been started',
      look: { posFiles: [{ path: '/pos', kind: 'missing' }] },
    },
    {
      title: 'of a supervisor that has run for less than the settle time',
      look: { fluentd: newcomer },
      since: 98_001,
    },
  ])('$title', (world) => {
    expect(flushTime(world)).toBeUndefined();
  });
});
