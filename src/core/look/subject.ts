import type { FluentConf } from '../fluent-conf/fluent-conf.ts';
import type { FluentdTarget } from '../progress/fluentd-reading.ts';

export interface Subject {
  readonly posFiles: readonly string[];
  readonly fluentd: FluentdTarget;
  readonly conf: FluentConf | undefined;
  readonly witness?: string | undefined;
  /** A part of the command line of the Pod's main process, in a shared PID namespace. */
  readonly doneProcess: string | undefined;
  /** posidle's own pid: neither it nor its ancestors are main. */
  readonly self?: number;
}
