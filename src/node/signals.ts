import type { StopRequest } from '../core/snapshot.ts';

/**
 * Takes SIGTERM and SIGINT as calls for the end. As PID 1 a process gets only the signals that it asked for, so this comes
 * first of all. SIGUSR1 would open Node's inspector on 9229: people send it to mean Fluentd's flush.
 */
export function onStopSignals(stop: (by: StopRequest['by']) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
  for (const signal of ['SIGUSR1', 'SIGHUP'] as const) process.on(signal, () => {});
}
