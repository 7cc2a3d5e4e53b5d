import type { ConfFacts } from '../fluent-conf/facts.ts';
import type { FluentdTarget } from '../fluentd/processes.ts';

/** How posidle runs: next to Fluentd, as its parent, or as a native sidecar that the kubelet waits for before it stops Fluentd. */
export type Role = 'beside' | 'parent' | 'native-sidecar';

export interface Subject {
  readonly posFiles: readonly string[];
  readonly fluentd: FluentdTarget;
  readonly conf: ConfFacts | undefined;
  readonly role?: Role;
  readonly witness?: string | undefined;
  /** Matches the command line of the Pod's main process, in a shared PID namespace. */
  readonly doneProcess: RegExp | undefined;
  /** The chunks that were in the backup directory when posidle started. */
  readonly putAsideBefore?: ReadonlySet<string> | undefined;
}
