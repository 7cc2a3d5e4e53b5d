import type { Observation, ObservedFile } from '../observe/observation.ts';
import { progressOf } from '../observe/progress-of.ts';
import { type Listed, listed } from '../progress/describe.ts';
import type { Doubt, Left } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import { bytesLeft, readGate } from './gates.ts';
import type { Policy } from './policy.ts';
import type { State, StateName, Trigger } from './state.ts';

/** What GET /status answers. Byte counts and milliseconds; null where unknown. */
export interface Status {
  readonly state: StateName;
  /** For how long. */
  readonly since: Millis;
  /** Why it came into this state. */
  readonly why: string;
  readonly trigger: Trigger['by'] | null;
  /** The first condition of the drain that does not hold yet. */
  readonly gate: string | null;
  readonly files: readonly StatusFile[];
  readonly undiscovered: readonly { readonly path: string; readonly size: number }[];
  readonly lag: number;
  /** Since the last movement. */
  readonly age: Millis | null;
  /** What is left to do, and what nobody can prove by now. */
  readonly left: Listed<Left>;
  readonly doubts: Listed<Doubt>;
  readonly fluentd: {
    readonly kind: string;
    readonly pid: number | null;
    readonly workers: readonly number[];
  };
}

type StatusFile = Pick<ObservedFile, 'path' | 'inode' | 'state' | 'position' | 'size' | 'lag'>;

/** The state of a watch, for programs. */
export function statusOf(state: State, seen: Observation, policy: Policy, why: string): Status {
  const { fluentd } = seen;
  const { left, doubts } = progressOf(seen, policy);
  return {
    state: state.name,
    since: Math.round(seen.at - state.since),
    why,
    trigger: triggerOf(state),
    gate: readGate(seen, policy)?.why ?? null,
    files: seen.files.map(({ path, inode, state, position, size, lag }) => ({
      path,
      inode,
      state,
      position,
      size,
      lag,
    })),
    undiscovered: seen.undiscovered.map(({ path, size }) => ({ path, size })),
    lag: bytesLeft(seen),
    age: seen.movedAt === undefined ? null : Math.round(seen.at - seen.movedAt),
    left: listed(left),
    doubts: listed(doubts),
    fluentd: {
      kind: fluentd.kind,
      pid: fluentd.kind === 'running' ? fluentd.supervisor.pid : null,
      workers: 'workers' in fluentd ? fluentd.workers.map(({ pid }) => pid) : [],
    },
  };
}

function triggerOf(state: State): Trigger['by'] | null {
  if ('trigger' in state) return state.trigger.by;
  return state.name === 'stopped' ? (state.result?.trigger.by ?? null) : null;
}
