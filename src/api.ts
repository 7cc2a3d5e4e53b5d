import type { Outcome } from './core/drain/outcome.ts';
import type { StateName } from './core/drain/state.ts';
import { type Inspection, inspectionOf } from './core/inspect/inspection.ts';
import { NodeHost } from './node/node-host.ts';
import { Inspector, inspectSubject } from './tasks/inspect.ts';
import { Parent } from './tasks/parent.ts';
import { type WatchReporter, watch as watchFluentd } from './tasks/watch.ts';
import { refuseUnknown, type WatchOptions as TaskOptions } from './tasks/watch-options.ts';

/** The options of `watch` and `run`. Durations are in milliseconds. */
export interface WatchOptions extends TaskOptions {
  readonly onTransition?: (transition: { from: StateName; to: StateName; why: string }) => void;
}

/** Stops an already running Fluentd when its work is done. Resolves when Fluentd is gone. */
export function watch(options: WatchOptions): Promise<Outcome> {
  return watchAndTell(new NodeHost(), options);
}

/** Starts Fluentd and stops it when its work is done. Rejects if the command cannot start. */
export async function run(
  command: readonly string[],
  options: Omit<WatchOptions, 'fluentd'>,
): Promise<Outcome> {
  const host = new NodeHost();
  return watchAndTell(host, options, new Parent(host, command));
}

/** Resolves to what Fluentd has read and what is left, as `posidle inspect --json` prints it. */
export async function inspect(options: Pick<WatchOptions, 'posFiles' | 'fluentConf'>): Promise<Inspection> {
  refuseUnknown(options, { posFiles: [], fluentConf: undefined });
  const { posFiles = [], fluentConf } = options;
  const host = new NodeHost();
  const subject = await inspectSubject(host, { posFiles, fluentConf });
  return inspectionOf(await new Inspector(host, subject).look());
}

function watchAndTell(host: NodeHost, options: WatchOptions, parent?: Parent): Promise<Outcome> {
  const { onTransition, ...settings } = options;
  const report: WatchReporter = {
    transition: ({ from, to, why }) => onTransition?.({ from, to, why }),
    looked: () => {},
    performed: () => {},
  };
  return watchFluentd(host, settings, { begin: async () => report, parent });
}
