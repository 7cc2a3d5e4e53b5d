import { memoryBuffer, output } from '../../support/fluentd-conf.ts';
import { LAZY, ON_DISK, READ, toDestination } from '../sections.ts';
import type { Situation } from '../situation.ts';

const LATE = { flush_interval: '60s' };

export const BUFFERED: readonly Situation[] = [
  {
    name: 'file-buffer',
    what: 'a file buffer is flushed once in 60 s',
    setup: { buffer: { ...ON_DISK, ...LATE } },
    deeds: [['write', 'app.log', 5_000]],
    since: '57be2fe',
  },
  {
    name: 'memory-buffer',
    what: 'a memory buffer is flushed once in 60 s',
    setup: { buffer: LATE },
    deeds: [['write', 'app.log', 5_000]],
    since: '57be2fe',
  },
  {
    name: 'full-file-buffer',
    what: 'a full file buffer blocks in_tail, until it is flushed again and again',
    setup: { buffer: { ...ON_DISK, ...LAZY, total_limit_size: '64k', overflow_action: 'block' } },
    deeds: [['write', 'app.log', 3_000]],
    since: '6bd30bb',
  },
  {
    name: 'full-memory-buffer',
    what: 'a full memory buffer blocks in_tail, until it is flushed again and again',
    setup: { buffer: { ...LAZY, total_limit_size: '64k', overflow_action: 'block' } },
    deeds: [['write', 'app.log', 3_000]],
    on: 'newest',
    since: '6bd30bb',
  },
  {
    name: 'own-events',
    what: "Fluentd's own events come into the same buffer",
    setup: { output: toDestination({ ...ON_DISK, ...LATE }, { arg: '**' }) },
    deeds: [['write', 'app.log', 1_000]],
    on: 'newest',
    since: '6bd30bb',
  },
  {
    name: 'too-large-record',
    what: 'a record is larger than chunk_limit_size',
    setup: { buffer: { chunk_limit_size: '8k' } },
    deeds: [
      ['write', 'app.log', 10],
      ['write text', 'app.log', `${'x'.repeat(20_000)}\n`],
      ['write', 'app.log', 10],
    ],
    outcome: 'unproven',
    told: '1 record not taken, or missing',
    since: '6bd30bb',
    once: 'drained',
  },
  {
    name: 'forgotten-chunk',
    // One emit that is too large for a chunk: seven lines fill the staged one, two more chunks follow, and the last one is staged under the
    // same metadata. To enqueue the first, Fluentd stages the third in the place of the last (buffer.rb, write and write_step_by_step).
    what: 'Fluentd forgets a chunk where it splits the lines of one read into chunks',
    setup: {
      output: output('file', { path: '{dir}/out/app' }, [
        { name: 'format', params: { '@type': 'json' } },
        { name: 'buffer', params: { ...ON_DISK, ...LAZY, chunk_limit_size: 4_000 } },
      ]),
    },
    deeds: [
      ...READ,
      [
        'write text',
        'other.log',
        'x'.repeat(545).concat('\n').repeat(7) + 'x'.repeat(565).concat('\n').repeat(18),
      ],
    ],
    outcome: 'unproven',
    told: 'unbalanced',
    on: 'oldest and newest',
    since: 'c57e556',
    once: 'drained',
  },
  {
    name: 'killed-worker',
    what: 'a worker is killed, and its memory is gone',
    setup: { buffer: LAZY },
    deeds: [...READ, ['signal', 'worker', 'SIGKILL'], ['until', 'another worker runs']],
    outcome: 'unproven',
    told: 'worker-died',
    lost: 20,
    on: 'newest',
    since: '6a2e5c4',
  },
  {
    name: 'killed-worker-on-disk',
    what: 'a worker is killed, and the next one sends what it left on disk',
    setup: { buffer: { ...ON_DISK, ...LAZY } },
    deeds: [
      ...READ,
      ['signal', 'worker', 'SIGKILL'],
      ['until', 'another worker runs'],
      ['write', 'app.log', 1_000],
    ],
    outcome: 'unproven',
    told: 'worker-died',
    on: 'oldest and newest',
    since: 'a744315',
  },
  {
    name: 'reloaded',
    what: 'a reload begins an output anew, which does not flush at its shutdown',
    setup: { system: { rpc_endpoint: '127.0.0.1:{rpc}' }, buffer: { ...LAZY, flush_at_shutdown: false } },
    deeds: [...READ, ['reload']],
    outcome: 'unproven',
    told: 'reloaded',
    lost: 20,
    on: 'newest',
    since: 'bc239af',
    once: 'drained',
  },
  {
    name: 'sent-to-itself',
    what: "Fluentd sends the lines to an input of its own, into a buffer on disk that takes events of Fluentd's own log, too",
    setup: {
      before: [
        {
          name: 'source',
          params: { '@type': 'forward', bind: '127.0.0.1', port: '{rpc}', '@label': '@SECOND' },
        },
      ],
      output: {
        ...output('forward', { require_ack_response: true }, [
          { name: 'server', params: { host: '127.0.0.1', port: '{rpc}' } },
          memoryBuffer({ flush_interval: '1s' }),
        ]),
        arg: 'app',
      },
      after: [
        { name: 'label', arg: '@SECOND', sections: [toDestination({ ...ON_DISK, ...LAZY }, { arg: '**' })] },
        {
          name: 'label',
          arg: '@FLUENT_LOG',
          sections: [{ ...output('relabel', { '@label': '@SECOND' }), arg: '**' }],
        },
      ],
    },
    deeds: READ,
    outcome: 'drained or told',
    told: 'http',
    on: 'newest',
    since: '9c0f511',
    once: 'drained',
  },
  {
    name: 'own-events-apart',
    what: "Fluentd's own events come into a file buffer of their own, by <label @FLUENT_LOG>",
    setup: {
      buffer: { ...ON_DISK, ...LATE },
      after: [
        {
          name: 'label',
          arg: '@FLUENT_LOG',
          sections: [toDestination({ ...ON_DISK, path: '{dir}/buffer-own', ...LATE }, { arg: '**' })],
        },
      ],
    },
    deeds: [['write', 'app.log', 1_000]],
    on: 'newest',
    since: '6bd30bb',
  },
];
