import { ON_DISK, READ } from '../sections.ts';
import type { Situation } from '../situation.ts';

const LAZY = { flush_interval: '60s' };
const SOURCE_ONLY = { system: { with_source_only: true } };
const ENDED = ['until', 'another worker runs'] as const;

export const STOPPED: readonly Situation[] = [
  {
    name: 'crash-after-delivery',
    what: 'a worker crashes when all has arrived, and main writes on',
    deeds: [
      ['write', 'app.log', 2_000],
      ['until', 'all has arrived'],
      ['signal', 'worker', 'SIGKILL'],
      ['write', 'app.log', 2_000],
    ],
    outcome: 'unproven',
    told: 'worker-died',
    since: '57be2fe',
  },
  {
    name: 'sighup',
    what: 'SIGHUP replaces the worker, whose memory is sent at its end',
    setup: { buffer: LAZY },
    deeds: [
      ['write', 'app.log', 1_000],
      ['until', 'all is read'],
      ['signal', 'supervisor', 'SIGHUP'],
      ENDED,
      ['write', 'app.log', 1_000],
    ],
    on: 'not the oldest',
    since: '38e333e',
  },
  {
    name: 'renamed-between-workers',
    what: 'a log that was read is renamed while one worker has ended and the next one starts',
    deeds: [
      ...READ,
      ['signal', 'worker', 'SIGTERM'],
      ['until', { fluentdSays: 'Worker 0 exited' }],
      ['rename', 'app.log', 'app.log.1'],
      ENDED,
      ['write', 'app.log', 1_000],
    ],
    on: 'not the oldest',
    since: '99733e3',
    once: 'unproven',
  },
  {
    name: 'sigusr1',
    what: 'SIGUSR1 flushes the buffers while main writes',
    setup: { buffer: { ...ON_DISK, ...LAZY } },
    deeds: [
      ['write', 'app.log', 1_000],
      ['signal', 'supervisor', 'SIGUSR1'],
      ['write', 'app.log', 1_000],
    ],
    on: 'oldest and newest',
    since: 'b990d2c',
  },
  {
    name: 'source-only',
    what: 'with_source_only keeps all lines back',
    setup: SOURCE_ONLY,
    deeds: READ,
    args: ['--drain-timeout', '6s'],
    outcome: 'not-drained',
    told: 'held',
    lost: 20,
    on: 'not the oldest',
    roads: ['run', 'watch'],
    since: '57be2fe',
  },
  {
    name: 'source-only-no-more',
    what: 'with_source_only keeps all lines back, until SIGWINCH comes in the drain',
    setup: SOURCE_ONLY,
    deeds: [...READ, ['main ends'], ['pause', 0.5], ['signal', 'supervisor', 'SIGWINCH']],
    on: 'not the oldest',
    since: '57be2fe',
  },
  {
    name: 'frozen',
    what: 'Fluentd is frozen (SIGSTOP) until the drain has begun',
    deeds: [
      ['write', 'app.log', 20],
      ['until', 'all is read'],
      ['signal', 'worker', 'SIGSTOP'],
      ['write', 'app.log', 1_000],
      ['main ends'],
      ['pause', 3],
      ['signal', 'worker', 'SIGCONT'],
    ],
    on: 'oldest and newest',
    since: 'd2d9b4d',
  },
  {
    name: 'no-witness',
    what: 'nobody looks into Fluentd, and all is sent',
    setup: { buffer: { ...ON_DISK, ...LAZY } },
    witness: false,
    deeds: [...READ, ['write', 'app.log', 1_000]],
    outcome: 'unproven',
    told: 'nobody looked inside Fluentd',
    on: 'newest',
    roads: ['run', 'watch'],
    since: '75b8e2c',
  },
];
