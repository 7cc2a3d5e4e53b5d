import type { Action } from '../core/drain/state.ts';
import type { FluentdReading, ProcessIdentity } from '../core/progress/fluentd-reading.ts';
import type { Millis } from '../core/text/units.ts';
import type { Reports } from '../core/witness/reports.ts';
import type { Host, WitnessOrder } from '../host.ts';

export interface Reach {
  readonly fluentd: FluentdReading;
  /** The witnesses' answers in this look, if it asked them. */
  readonly reports?: Reports | undefined;
  readonly witnessDir?: string | undefined;
  /** How long a witness may take; at most 2 s. */
  readonly patience?: Millis | undefined;
}

export interface Done {
  readonly what: string;
  readonly failed?: true;
}

export function perform(host: Host, action: Action, reach: Reach): Promise<Done> {
  switch (action) {
    case 'flush':
      return flush(host, reach);
    case 'stop':
      return stop(host, reach);
    case 'kill':
      return send(host, processesIn(reach), 'SIGKILL');
  }
}

/** Sends an order to the witnesses; undefined if none obeyed. Several workers of one supervisor stop it several times, which does no harm. */
async function tellWitnesses(
  host: Host,
  word: WitnessOrder,
  { witnessDir: dir, reports, patience }: Reach,
): Promise<Done | undefined> {
  if (dir === undefined) return undefined;
  const { witnesses } = reports ?? (await host.askWitnesses(dir, 'look', patience));
  const alive = witnesses.flatMap((one) => (one.kind === 'alive' ? [one] : []));
  const orders = alive.map(({ worker }) => host.tellWitness(dir, worker, word, patience));
  const wasDone = await Promise.all(orders);
  const done = alive.filter((_, index) => wasDone[index]);
  if (done.length === 0) return undefined;
  return { what: `told ${done.map(({ report }) => `worker ${report.pid}`).join(', ')} to ${word}` };
}

async function flush(host: Host, reach: Reach): Promise<Done> {
  const told = await tellWitnesses(host, 'flush', reach);
  if (told !== undefined) return told;
  // SIGUSR1 would kill a process that is no Fluentd.
  if (reach.fluentd.kind === 'wrapper')
    return { what: 'no flush: posidle does not see the process of fluentd' };
  return send(host, processesIn(reach).slice(0, 1), 'SIGUSR1');
}

/** Workers ignore SIGINT; their supervisor stops them (supervisor.rb, install_main_process_signal_handlers). */
async function stop(host: Host, reach: Reach): Promise<Done> {
  return (await tellWitnesses(host, 'stop', reach)) ?? send(host, processesIn(reach).slice(0, 1), 'SIGINT');
}

async function send(host: Host, targets: readonly ProcessIdentity[], signal: string): Promise<Done> {
  if (targets.length === 0)
    return { what: 'no witness took the order, and posidle sees no process of Fluentd' };
  const results = await Promise.all(
    targets.map((target) => host.signal(target, signal).catch((error: Error) => error)),
  );
  const pids = targets.filter((_, index) => results[index] === 'sent').map(({ pid }) => pid);
  if (results.includes('not-permitted'))
    return {
      what: `not permitted to send ${signal}: run posidle as the same user, or with the capability KILL`,
      failed: true,
    };
  const failure = results.find((result) => result instanceof Error);
  if (failure !== undefined)
    return { what: `${signal} was not sent to all: ${failure.message}`, failed: true };
  if (pids.length === 0) return { what: `${signal} was not sent: the process had ended` };
  return { what: `sent ${signal} to ${pids.join(', ')}` };
}

/** The supervisor first. A wrapper gets the signals that Fluentd would get. */
function processesIn({ fluentd }: Reach): readonly ProcessIdentity[] {
  if (fluentd.kind === 'wrapper') return [fluentd.leader];
  return fluentd.kind === 'running' ? [fluentd.supervisor, ...fluentd.workers] : [];
}
