import type { Action } from '../core/drain/state.ts';
import type { FluentdReading, ProcessIdentity } from '../core/progress/fluentd-reading.ts';
import type { Testimony } from '../core/witness/testimony.ts';
import type { Host, WitnessOrder } from '../host.ts';

export interface Reach {
  readonly fluentd: FluentdReading;
  /** The witnesses' answers in this look, if it asked them. */
  readonly witness?: { readonly testimony: Testimony } | undefined;
  readonly witnessDir?: string | undefined;
}

export interface Done {
  readonly what: string;
  readonly pids: readonly number[];
  readonly failed: boolean;
}

/** A result without a signal. */
const saying = (what: string): Done => ({ what, pids: [], failed: false });

export function perform(host: Host, action: Action, reach: Reach): Promise<Done> {
  switch (action.do) {
    case 'flush':
      return flush(host, reach);
    case 'signal':
      return tell(host, action, reach);
  }
}

/** Sends an order to the witnesses; undefined if none obeyed. A stop goes to one worker per supervisor, since the supervisor stops the others. */
async function tellWitnesses(
  host: Pick<Host, 'askWitnesses' | 'tellWitness'>,
  word: WitnessOrder,
  dir: string | undefined,
  testimony?: Testimony,
): Promise<Done | undefined> {
  if (dir === undefined) return undefined;
  const { witnesses } = testimony ?? (await host.askWitnesses(dir, 'look'));
  const alive = witnesses.flatMap((one) => (one.kind === 'alive' ? [one] : []));
  const bySupervisor = new Map(alive.map((one) => [one.said.supervisor ?? one.worker, one]));
  const told = word === 'stop' ? [...bySupervisor.values()] : alive;
  const failures = await Promise.all(told.map(({ worker }) => host.tellWitness(dir, worker, word)));
  const done = told.filter((_, index) => failures[index] === undefined);
  if (done.length === 0) return undefined;
  return saying(`told ${done.map(({ said }) => `worker ${said.pid}`).join(', ')} to ${word}`);
}

async function flush(host: Host, reach: Reach): Promise<Done> {
  const told = await tellWitnesses(host, 'flush', reach.witnessDir, reach.witness?.testimony);
  if (told !== undefined) return told;
  // SIGUSR1 would kill a process that is no Fluentd.
  if (reach.fluentd.kind === 'wrapper')
    return saying('no flush: posidle does not see the process of fluentd');
  // A supervisor passes the signal on. Orphaned workers must get it directly.
  return send(host, reach.fluentd.kind === 'orphaned' ? 'workers' : 'supervisor', 'SIGUSR1', reach);
}

async function tell(
  host: Host,
  { target, signal }: Extract<Action, { do: 'signal' }>,
  reach: Reach,
): Promise<Done> {
  const isStop = target === 'supervisor' && (signal === 'SIGINT' || reach.fluentd.kind === 'remote');
  const told = isStop
    ? await tellWitnesses(host, 'stop', reach.witnessDir, reach.witness?.testimony)
    : undefined;
  return told ?? send(host, target, signal, reach);
}

async function send(host: Host, target: Target, signal: string, { fluentd }: Reach): Promise<Done> {
  if (fluentd.kind === 'running' && fluentd.proof === 'hearsay') {
    const why = `nothing proves that process ${fluentd.supervisor.pid} is the Fluentd whose witness listens`;
    return { ...saying(`${signal} was not sent: ${why}`), failed: true };
  }
  const targets = targetsOf(target, fluentd);
  const results = await Promise.all(
    targets.map((target) => host.signal(target, signal).catch((error: Error) => error)),
  );
  const pids = targets.filter((_, index) => results[index] === 'sent').map(({ pid }) => pid);
  if (results.includes('not-permitted'))
    return {
      what: `not permitted to send ${signal}: run posidle as the same user, or with the capability KILL`,
      pids,
      failed: true,
    };
  const failure = results.find((result) => result instanceof Error);
  if (failure !== undefined)
    return { what: `${signal} was not sent to all: ${failure.message}`, pids, failed: true };
  if (pids.length === 0) return saying(`${signal} was not sent: the process had ended`);
  return { what: `sent ${signal} to ${pids.join(', ')}`, pids, failed: false };
}

type Target = Extract<Action, { do: 'signal' }>['target'];

function targetsOf(target: Target, fluentd: FluentdReading): readonly ProcessIdentity[] {
  if (fluentd.kind === 'wrapper') return target === 'workers' ? [] : [fluentd.leader];
  if (fluentd.kind !== 'running' && fluentd.kind !== 'orphaned') return [];
  const { workers } = fluentd;
  const supervisor = fluentd.kind === 'running' ? [fluentd.supervisor] : [];
  return { supervisor, workers, all: [...supervisor, ...workers] }[target];
}
