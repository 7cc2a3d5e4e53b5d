import type { ConfFacts } from '../fluent-conf/facts.ts';
import type { FluentdTarget } from '../fluentd/processes.ts';

/** Where posidle runs: beside Fluentd, as its parent, or as a native sidecar of a Pod whose kubelet stops Fluentd when posidle has ended. */
export type Role = 'beside' | 'parent' | 'native-sidecar';

export interface Subject {
  readonly posFiles: readonly string[];
  readonly fluentd: FluentdTarget;
  readonly conf: ConfFacts | undefined;
  readonly role?: Role;
  readonly witness?: string | undefined;
  /** The Pod's main process, by its command line, in a shared PID namespace. */
  readonly doneProcess: RegExp | undefined;
  /** The chunks that lay in the backup directory when posidle began. */
  readonly putAsideBefore?: ReadonlySet<string> | undefined;
}
