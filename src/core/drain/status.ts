import type { Observation, ObservedFile } from '../observe/observation.ts';
import { listed } from '../progress/describe.ts';
import { bytesToRead } from '../progress/progress.ts';
import { readGate } from './gates.ts';
import type { State, Trigger } from './state.ts';

export type Status = ReturnType<typeof statusOf>;

/** The body of GET /status. `why` is the reason of the last state change. Bytes and milliseconds; null if unknown. */
export function statusOf(state: State, seen: Observation, why: string) {
  const { fluentd } = seen;
  const { left, doubts, movedAt } = seen.progress;
  return {
    state: state.name,
    since: Math.round(seen.at - state.since),
    why,
    trigger: triggerOf(state),
    /** The first reason why not everything is read. */
    gate: readGate(seen)?.why ?? null,
    files: seen.files.map(fileOf),
    undiscovered: seen.undiscovered.map(({ path, size }) => ({ path, size })),
    lag: bytesToRead(seen.progress),
    age: movedAt === undefined ? null : Math.round(seen.at - movedAt),
    left: listed(left),
    doubts: listed(doubts),
    fluentd: {
      kind: fluentd.kind,
      pid: fluentd.kind === 'running' ? fluentd.supervisor.pid : null,
      workers: 'workers' in fluentd ? fluentd.workers.map(({ pid }) => pid) : [],
    },
  };
}

function fileOf({ path, inode, state, position, size, lag }: ObservedFile) {
  return { path, inode, state, position, size, lag };
}

function triggerOf(state: State): Trigger['by'] | null {
  if ('trigger' in state) return state.trigger.by;
  return state.name === 'stopped' ? (state.result?.trigger.by ?? null) : null;
}
