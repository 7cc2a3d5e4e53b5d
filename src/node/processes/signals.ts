/** What people send to a Fluentd container and mean for Fluentd (supervisor.rb, install_supervisor_signal_handlers). */
const FOR_FLUENTD = ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGCONT', 'SIGWINCH'] as const;

/**
 * Takes SIGTERM and SIGINT as calls for the end. As PID 1 a process gets only the signals that it asked for, so this comes
 * first of all. `others` gets what is meant for Fluentd; SIGUSR1 unasked for would open Node's inspector on 9229.
 */
export function onSignals(
  stop: (by: 'SIGTERM' | 'SIGINT') => void,
  others: (signal: NodeJS.Signals) => void,
): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
  for (const signal of FOR_FLUENTD) process.on(signal, () => others(signal));
}
