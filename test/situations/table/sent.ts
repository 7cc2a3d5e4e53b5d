import { memoryBuffer, output } from '../../support/fluentd-conf.ts';
import { READ, toDestination } from '../sections.ts';
import type { Situation } from '../situation.ts';

const AT_ONCE = { flush_mode: 'immediate', retry_wait: '0.1', retry_max_times: 3, retry_randomize: false };
const SOON = { flush_interval: '1s', retry_wait: '1s', retry_max_interval: '2s' };

export const SENT: readonly Situation[] = [
  {
    name: 'dead-destination',
    what: 'the destination is dead, and back 2 s after the end of main',
    setup: { buffer: SOON },
    deeds: [
      ['destination', 'dead'],
      ['write', 'app.log', 1_000],
      ['until', 'a send was tried'],
      ['main ends'],
      ['pause', 2],
      ['destination', 'up'],
    ],
    since: '57be2fe',
  },
  {
    name: 'dead-for-good',
    what: 'the destination stays dead until the drain is over',
    setup: { buffer: { '@type': 'file', path: '{dir}/buffer', ...SOON } },
    deeds: [
      ['destination', 'dead'],
      ['write', 'app.log', 2_000],
    ],
    args: ['--drain-timeout', '6s'],
    outcome: 'not-drained',
    told: 'held',
    lost: 2_000,
    on: 'newest',
    roads: ['run', 'watch'],
    since: '57be2fe',
  },
  {
    name: 'slow-destination',
    what: 'the destination needs 0.3 s for each of ten chunks in memory',
    setup: { buffer: { flush_interval: '60s', chunk_limit_records: 100 } },
    deeds: [
      ['each answer takes', 300],
      ['write', 'app.log', 999],
    ],
    since: '87b8a3e',
  },
  {
    name: 'fed-all-the-time',
    what: 'another source feeds the same output all the time',
    setup: { before: [{ name: 'source', params: { '@type': 'sample', tag: 'app', rate: 20 } }] },
    deeds: [['write', 'app.log', 1_000]],
    on: 'not the oldest',
    since: '229de46',
  },
  {
    name: 'retries-used-up',
    what: 'the destination refuses until the retries are used up, and the secondary is dead too',
    setup: {
      output: toDestination(AT_ONCE, {
        more: [{ name: 'secondary', params: { '@type': 'http', endpoint: 'http://127.0.0.1:1/' } }],
      }),
    },
    deeds: [['destination', 'refusing'], ...READ],
    outcome: 'unproven',
    told: '20 records lost (retries used up)',
    lost: 20,
    since: '229de46',
    once: 'drained',
  },
  {
    name: 'silent-command',
    what: 'the command of out_exec fails, and Fluentd says nothing of the retry limit',
    setup: {
      output: output('exec', { command: "sh -c 'exit 1' --" }, [
        { name: 'format', params: { '@type': 'json' } },
        memoryBuffer({ flush_mode: 'immediate', retry_max_times: 0 }),
      ]),
    },
    deeds: [...READ, ['until', { fluentdSays: 'command exits with error code' }]],
    outcome: 'unproven',
    told: '20 records lost (retries used up)',
    lost: 20,
    on: 'newest',
    since: 'bc239af',
    once: 'drained',
  },
  {
    name: 'rejected',
    what: 'the destination rejects each chunk (400), and Fluentd puts them aside',
    setup: { buffer: { '@type': 'file', path: '{dir}/buffer', flush_interval: '1s' } },
    deeds: [
      ['destination', 'rejecting'],
      ['write', 'app.log', 2_000],
    ],
    outcome: 'not-drained',
    told: 'given-up',
    lost: 2_000,
    since: '6bd30bb',
  },
  {
    name: 'rejected-and-dropped',
    what: 'the destination rejects each chunk (400), and Fluentd is told to take that as delivered',
    setup: {
      output: output(
        'http',
        { endpoint: 'http://127.0.0.1:{port}/', error_response_as_unrecoverable: false },
        [memoryBuffer({ flush_interval: '1s' })],
      ),
    },
    deeds: [['destination', 'rejecting'], ...READ],
    outcome: 'unproven',
    told: 'got error response from',
    lost: 20,
    on: 'oldest and newest',
    since: '229de46',
  },
  {
    name: 'no-match',
    what: 'no <match> takes the tag, and Fluentd says it only now and then',
    setup: {
      output: output('relabel', { '@label': '@NOWHERE' }),
      after: [{ name: 'label', arg: '@NOWHERE', sections: [{ ...output('null'), arg: 'other' }] }],
    },
    deeds: READ,
    outcome: 'unproven',
    told: '20 records lost (no <match> or rule for them)',
    lost: 20,
    on: 'newest',
    since: 'fef4ce2',
    once: 'drained',
  },
];
