import { problemText } from '../fluent-conf/element.ts';
import type {
  BufferConf,
  Endpoint,
  FluentConf,
  MonitorAgent,
  TailSource,
} from '../fluent-conf/fluent-conf.ts';
import type { FluentdTarget } from '../fluentd/processes.ts';

/** What a watch looks at, and through what. */
export interface Subject {
  /** Pos files, each a path or a glob. */
  readonly posFiles: readonly string[];
  readonly fluentd: FluentdTarget;
  /** What fluent.conf says; undefined: none is known. */
  readonly conf: ConfFacts | undefined;
  readonly stopVia: StopVia;
  /** The Pod's main process, by its command line, in a shared PID namespace. */
  readonly doneProcess: RegExp | undefined;
}

export type StopVia = 'auto' | 'signal' | 'rpc';

export interface ConfFacts {
  readonly sources: readonly TailSource[];
  readonly buffers: readonly BufferConf[];
  readonly monitorAgents: readonly MonitorAgent[];
  readonly rpc: Endpoint | undefined;
  /** Everything in the configuration could be evaluated. */
  readonly complete: boolean;
  /** Why there may be in_tail sources, or pos files of them, that are not known. */
  readonly hidden: readonly string[];
}

/** A problem with one of these, or with the syntax or a file as a whole, may hide a source. */
const HIDING: readonly (string | undefined)[] = [
  '@include',
  '@type',
  'type',
  'pos_file',
  'workers',
  undefined,
];

export function confFacts({ sources, buffers, monitorAgents, system, problems }: FluentConf): ConfFacts {
  const hidden = problems.filter(({ parameter }) => HIDING.includes(parameter)).map(problemText);
  const complete = problems.length === 0;
  return { sources, buffers, monitorAgents, rpc: system.rpcEndpoint, complete, hidden };
}
