import { filter, memoryBuffer, output, type Section } from '../../support/fluentd-conf.ts';
import { LAZY, ON_DISK, toDestination } from '../sections.ts';
import type { Situation } from '../situation.ts';

const lazy = (arg = 'app') => toDestination({ ...ON_DISK, ...LAZY }, { arg });
const WRITES = [['write', 'app.log', 10]] as const;
const label = (...sections: readonly Section[]): Section => ({ name: 'label', arg: '@late', sections });
const concat = (interval: string) => filter('concat', { flush_interval: interval, timeout_label: '@late' });

export const KEPT: readonly Situation[] = [
  {
    name: 'multiline',
    what: 'a multiline source keeps its last record for multiline_flush_interval',
    setup: {
      tail: { multiline_flush_interval: '4s' },
      parse: { '@type': 'multiline', format_firstline: '/^id=/', format1: '/^(?<message>.*)/' },
      buffer: LAZY,
    },
    deeds: WRITES,
    since: '4bb47e2',
  },
  {
    name: 'multiline-on-disk',
    what: 'nobody looks into Fluentd, and a multiline record comes into a file buffer as Fluentd stops',
    setup: {
      parse: { '@type': 'multiline', format_firstline: '/^id=/', format1: '/^(?<message>.*)/' },
      buffer: { ...ON_DISK, ...LAZY },
    },
    witness: false,
    deeds: WRITES,
    outcome: 'not-drained',
    told: 'held',
    lost: 1,
    roads: ['run', 'watch'],
    since: '6f0a994',
    once: 'unproven',
  },
  {
    name: 'concat',
    what: 'a filter keeps records for its flush_interval of 5 s',
    setup: {
      between: [concat('5s')],
      output: output('relabel', { '@label': '@late' }),
      after: [label(lazy())],
    },
    deeds: WRITES,
    within: [3, 45],
    on: 'newest',
    since: '4bb47e2',
    once: 'drained',
  },
  {
    name: 'on-the-way-from-a-filter',
    what: 'records that a filter kept are on their way to a buffer',
    setup: {
      between: [concat('1s')],
      output: output('relabel', { '@label': '@late' }),
      after: [label(filter('throttle'), lazy())],
    },
    deeds: WRITES,
    within: [3, 45],
    on: 'newest',
    since: '861d412',
    once: 'drained',
  },
  {
    name: 'on-the-way-from-a-flush',
    what: 'a flush emits its records again, which are on their way to another buffer',
    setup: {
      output: output('repeat', {}, [memoryBuffer(LAZY)]),
      after: [{ ...filter('throttle'), arg: 'again' }, lazy('again')],
    },
    deeds: WRITES,
    within: [3, 45],
    on: 'newest',
    since: '861d412',
    once: 'drained',
  },
  {
    name: 'command-holds',
    what: 'the command of exec_filter holds lines until its input ends, and their buffer is not flushed at the stop',
    setup: {
      // awk writes to a pipe in blocks of 4 KiB.
      output: output('exec_filter', { command: "awk '{print}'", tag: 'filtered' }, [
        { name: 'format', params: { '@type': 'json' } },
        { name: 'parse', params: { '@type': 'json' } },
        memoryBuffer({ flush_interval: '1s' }),
      ]),
      after: [toDestination({ flush_at_shutdown: false }, { arg: 'filtered' })],
    },
    deeds: [['write', 'app.log', 20]],
    outcome: 'not-drained',
    told: 'held',
    lost: 20,
    on: 'newest',
    since: '3a9d68f',
    once: 'unproven, and the chunk was not named',
  },
];
