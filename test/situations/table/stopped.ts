import { ON_DISK } from '../sections.ts';
import type { Situation } from '../situation.ts';

const LAZY = { flush_interval: '60s' };
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
];
