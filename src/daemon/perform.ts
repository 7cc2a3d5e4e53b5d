import type { FluentdReading, ProcessIdentity } from '../core/processes.ts';
import type { Action } from '../core/state.ts';
import type { Host } from '../host.ts';

/** Carries out one order; says what was done. */
export async function perform(host: Host, action: Action, fluentd: FluentdReading): Promise<Done> {
  const targets = targetsOf(action.target, fluentd);
  const results = await Promise.all(targets.map((target) => host.signal(target, action.signal)));
  const sent = targets.filter((_, index) => results[index] === 'sent').map(({ pid }) => pid);
  return { signal: action.signal, sent, refused: results.includes('not-permitted') };
}

/** What came of an order. */
export interface Done {
  readonly signal: string;
  /** The pids that got it. */
  readonly sent: readonly number[];
  readonly refused: boolean;
}

function targetsOf(target: Action['target'], fluentd: FluentdReading): readonly ProcessIdentity[] {
  if (fluentd.kind !== 'running' && fluentd.kind !== 'orphaned') return [];
  const supervisor = fluentd.kind === 'running' ? [fluentd.supervisor] : [];
  switch (target) {
    case 'supervisor':
      return supervisor;
    case 'workers':
      return fluentd.workers;
    case 'all':
      return [...supervisor, ...fluentd.workers];
  }
}
