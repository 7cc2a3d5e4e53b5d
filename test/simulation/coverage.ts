import { type Gate, NEXT } from '../../src/core/drain/state.ts';
import type { Deed } from './plan.ts';

type Reachable = Readonly<Record<string, readonly string[]>>;

/** A gate `look` is closed only until the look that it asks for. */
const GATES: Readonly<Record<Exclude<Gate['name'], 'look'>, true>> = {
  fluentd: true,
  worker: true,
  'pos-file': true,
  unread: true,
  unfound: true,
  finish: true,
  main: true,
  settle: true,
  flush: true,
  buffers: true,
};

const DEEDS: Readonly<Record<Deed['do'], true>> = {
  write: true,
  'begin-line': true,
  truncate: true,
  remove: true,
  rotate: true,
  'remove-rotated': true,
  destination: true,
  'worker-dies': true,
  'fluentd-dies': true,
  'fluentd-starts': true,
  'supervisor-dies': true,
  compaction: true,
  'fluentd-is-told': true,
  'fluentd-restarts': true,
  'clock-jumps': true,
  stall: true,
  silence: true,
  trigger: true,
};

/** `waiting --> watching`, …. */
const TRANSITIONS = Object.entries(NEXT).flatMap(([from, tos]) => tos.map((to) => `${from} --> ${to}`));

/** All that a run of many lifetimes has to reach. */
const REACHABLE: Reachable = {
  state: Object.keys(NEXT).filter((state) => state !== 'stopped'),
  transition: TRANSITIONS,
  look: ['at rest'],
  gate: [...Object.keys(GATES), 'all open'],
  deed: Object.keys(DEEDS),
  destination: ['up', 'dead', 'rejecting'],
  fluentd: ['absent', 'running', 'remote'],
  drained: ['drained', 'unproven', 'not-drained'],
  end: ['stopped', 'killed', 'survived', 'ended-by-itself', 'no-fluentd'],
  trigger: ['quiet', 'start-timeout', 'done-file', 'done-process', 'http', 'SIGTERM'],
  left: ['unfound', 'unread', 'unfinished', 'let-go', 'given-up', 'held'],
  doubt: [
    ...['no-witness', 'pos-file', 'no-answer', 'not-started', 'worker-died', 'undelivered', 'killed'],
    ...[
      'closed-unread',
      'cut-short-unread',
      'written-anew',
      'never-followed',
      'read-from',
      'nobody-saw-it-read',
    ],
  ],
};

/** The features that the lifetimes have reached, and how often. */
export class Coverage {
  /** By `kind: what`. */
  readonly counts = new Map<string, number>();

  reached(kind: string, what: string): void {
    const name = `${kind}: ${what}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  get lines(): readonly string[] {
    return [...this.counts].sort().map(([what, count]) => `${String(count).padStart(9)}  ${what}`);
  }

  /** The features that no lifetime has reached. */
  get missing(): readonly string[] {
    const all = Object.entries(REACHABLE).flatMap(([kind, names]) => names.map((name) => `${kind}: ${name}`));
    return all.filter((what) => !this.counts.has(what));
  }

  /** Changes of state that none should make. */
  get unforeseen(): readonly string[] {
    const made = [...this.counts.keys()].filter((what) => what.startsWith('transition: '));
    return made.filter((what) => !TRANSITIONS.includes(what.slice('transition: '.length)));
  }
}
