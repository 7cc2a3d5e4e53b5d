import { LAZY, ON_DISK, READ } from '../sections.ts';
import type { Situation } from '../situation.ts';

const LATE = { refresh_interval: '60s' };
const FIXED = { path: '{dir}/logs/app.log' };
/** What in_tail has found and what it has not, once both are known. */
const KNOWN = ['until', 'a file is unfound or read'] as const;

export const FOUND: readonly Situation[] = [
  {
    name: 'new-file',
    what: 'a new file in the last moment, long before in_tail looks for one',
    setup: { tail: LATE },
    deeds: [
      ['write', 'app.log', 1_000],
      ['Fluentd starts'],
      ['until', 'all is read'],
      ['write', 'new.log', 1_000],
    ],
    since: '57be2fe',
  },
  {
    name: 'new-file-renamed',
    what: 'a new file is renamed, where no path matches it',
    deeds: [
      ['write', 'app.log', 10],
      ['until', 'all is read'],
      ['write', 'late.log', 1_000],
      KNOWN,
      ['rename', 'late.log', 'late.log.1'],
    ],
    outcome: 'drained or told',
    told: 'late.log',
    since: '4757bba',
  },
  {
    name: 'fixed-path-rotated',
    what: 'a fixed path is rotated at once, and written again',
    setup: { tail: { ...LATE, path: '{dir}/logs/app.log,{dir}/logs/late.log' } },
    deeds: [
      ['write', 'app.log', 10],
      ['until', 'all is read'],
      ['write', 'late.log', 1_000],
      KNOWN,
      ['rename', 'late.log', 'late.log.1'],
      ['write', 'late.log', 10],
    ],
    outcome: 'drained or told',
    told: 'late.log',
    since: '4757bba',
  },
  {
    name: 'newline-in-name',
    what: 'a log has a newline in its name, so the pos file cannot name it',
    deeds: [['write', 'app.log', 10], ['Fluentd starts'], ['write', 'new\nline.log', 1_000]],
    since: '4757bba',
  },
  {
    name: 'dangling-link',
    what: 'a link leads to a file that is not there',
    deeds: [
      ['write', 'app.log', 10],
      ['link', '/nowhere/app.log', 'linked.log'],
    ],
    outcome: 'unproven',
    told: 'a link that Fluentd cannot follow',
    since: 'bacb069',
    once: 'drained',
  },
  {
    name: 'rotated-before-anybody',
    what: 'a file was rotated before anybody saw it',
    deeds: [
      ['write', 'app.log', 20],
      ['until', 'all is read'],
      ['write', 'other.log.1', 1],
    ],
    outcome: 'unproven',
    told: 'nobody-saw-it-read',
    lost: 1,
    since: '12e695b',
  },
  {
    name: 'rotated-old-date',
    what: 'a rotated file that nobody read has an old date',
    setup: { tail: FIXED },
    deeds: [
      ['write', 'app.log', 20],
      ['until', 'all is read'],
      ['write', 'app.log.1', 1],
      ['set an old date', 'app.log.1'],
    ],
    outcome: 'unproven',
    told: 'nobody-saw-it-read',
    lost: 1,
    on: 'newest',
    since: '12e695b',
    once: 'drained',
  },
  {
    name: 'compressed-before-anybody',
    what: 'a log was rotated and compressed before anybody saw it, and the next one has the same length',
    setup: { tail: FIXED },
    deeds: [
      ['write', 'app.log', 20],
      ['compress', 'app.log'],
      ['write', 'app.log', 20],
      ['Fluentd starts'],
      ['until', 'all is read'],
    ],
    outcome: 'unproven',
    told: 'nobody-saw-it-read',
    lost: 20,
    // Outside a container `run` counts only files from after its own start.
    roads: ['watch', 'drain'],
    since: '4757bba',
    once: 'drained',
  },
  {
    name: 'copy-of-cut-file',
    what: 'a rotated file that nobody read looks like the copy of one that is cut',
    setup: { tail: FIXED },
    deeds: [
      ['write', 'app.log', 20],
      ['until', 'all is read'],
      ['write', 'app.log.1', 1],
      ['truncate', 'app.log'],
    ],
    outcome: 'unproven',
    told: 'nobody-saw-it-read',
    lost: 1,
    since: '0009404',
    once: 'drained',
  },
  {
    name: 'copy-of-young-cut-file',
    what: 'a rotated file that nobody read looks like the copy of one that is cut half a second after its birth',
    deeds: [
      ['write', 'b.log', 20],
      ['pause', 0.05],
      ['write', 'b.log.1', 1],
      ['pause', 0.5],
      ['truncate', 'b.log'],
      ['pause', 2],
    ],
    outcome: 'unproven',
    told: 'nobody-saw-it-read',
    lost: 'some', // where the file is cut before in_tail has found it, its 20 lines, too
    on: 'newest',
    since: '0fd0c02',
    once: 'drained',
  },
  {
    name: 'relative-path',
    what: 'the path is relative to the directory in which Fluentd was started',
    setup: { tail: { path: 'logs/*.log', refresh_interval: '4s' } },
    deeds: [
      ['write', 'app.log', 10],
      ['until', 'all has arrived'],
      ['write', 'late.log', 1_000],
    ],
    on: 'newest',
    since: '4757bba',
  },
  {
    // New in this version: four threads parse, and in_tail sees a new directory at once.
    name: 'threads-and-new-directory',
    what: 'threads parse, and a log comes in a directory that is new, long before in_tail looks for one',
    setup: {
      tail: {
        path: '{dir}/logs/**/*.log',
        refresh_interval: '10m',
        num_threads: 4,
        enable_dir_watcher: true,
      },
      buffer: { ...ON_DISK, flush_interval: '10m', evacuate_limit_size: '1g' },
    },
    deeds: [...READ, ['write', 'app.log', 80_000], ['write', 'new/late.log', 1_000]],
    on: 'newest',
    since: '57be2fe',
  },
  {
    name: 'ruby-in-pos-file',
    what: 'only Ruby knows the pos file',
    setup: { tail: { pos_file: '"#{["{dir}/app.pos"].first}"' }, buffer: LAZY },
    deeds: [...READ, ['write', 'late.log', 1_000]],
    since: '4bb47e2',
  },
  {
    name: 'removed-link-target',
    what: 'the file behind a link is removed when it is read',
    deeds: [
      ['write', '../target', 100],
      ['link', '../target', 'linked.log'],
      ['Fluentd starts'],
      ['until', 'all is read'],
      ['until', 'all has arrived'],
      ['remove', 'linked.log'],
      ['remove', '../target'],
    ],
    on: 'oldest and newest',
    since: 'd78947a',
  },
];
