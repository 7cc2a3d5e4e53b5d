import type { Outcome } from './core/drain/outcome.ts';
import { DEFAULT_POLICY, type Policy } from './core/drain/policy.ts';
import type { StateName } from './core/drain/state.ts';
import { tailFacts } from './core/fluent-conf/facts.ts';
import type { FluentdTarget } from './core/fluentd/processes.ts';
import { type Inspection, inspectionOf, whole } from './core/inspect/inspection.ts';
import type { StopVia } from './core/look/subject.ts';
import { type Reporter, watch as watchLoop } from './daemon/loop.ts';
import { DoneFile } from './node/files/done-file.ts';
import { NodeHost } from './node/node-host.ts';
import { Inspector } from './tasks/inspect-look.ts';
import { inspectSubject } from './tasks/inspect-subject.ts';
import { Parent } from './tasks/parent.ts';
import { findSubject, subjectFor } from './tasks/subject.ts';

/** What to watch, how to decide, and what to be told. Durations are milliseconds. */
export interface WatchOptions extends Partial<Omit<Policy, 'parent' | 'doneProcess'>> {
  /** Pos files or globs; by default those of `fluentConf`. */
  readonly posFiles?: readonly string[];
  readonly fluentConf?: string;
  /** By default the one supervisor that runs. */
  readonly fluentd?: FluentdTarget;
  readonly stopVia?: StopVia;
  /** Begins the drain when it exists. */
  readonly doneFile?: string;
  /** Begins the drain when no process matches any more. */
  readonly doneProcess?: RegExp;
  /** Begins the drain when it is aborted. */
  readonly signal?: AbortSignal;
  readonly onTransition?: (transition: { from: StateName; to: StateName; why: string }) => void;
}

/** Stops the Fluentd that runs beside this process when its work is done; resolves when it is gone. */
export function watch(options: WatchOptions): Promise<Outcome> {
  const { fluentd } = options;
  return supervise(new NodeHost(), options, fluentd === undefined ? SEARCH : async () => fluentd);
}

/** Starts a Fluentd and stops it when its work is done; rejects where the command cannot be started. */
export async function run(
  command: readonly string[],
  options: Omit<WatchOptions, 'fluentd'>,
): Promise<Outcome> {
  const host = new NodeHost();
  const parent = new Parent(host, command);
  try {
    return await supervise(host, options, () => parent.start(), command);
  } finally {
    await parent.finish();
  }
}

/** What Fluentd has read and what is left: the object that `posidle inspect --json` prints. */
export async function inspect(options: Pick<WatchOptions, 'posFiles' | 'fluentConf'>): Promise<Inspection> {
  const { posFiles: names, fluentConf } = namedIn(options);
  const host = new NodeHost();
  // stdin belongs to the program.
  const posFiles = names.map((name) => (name === '-' ? './-' : name));
  const subject = await inspectSubject(host, { posFiles, fluentConf, raw: false, root: undefined });
  return whole(inspectionOf(await new Inspector(host, subject).look()));
}

const SEARCH: Start = async () => ({ by: 'search' });

type Start = () => Promise<FluentdTarget>;

async function supervise(
  host: NodeHost,
  options: WatchOptions,
  start: Start,
  command?: readonly string[],
): Promise<Outcome> {
  const { doneProcess, stopVia = 'auto', doneFile, signal } = options;
  const marker = doneFile === undefined ? undefined : new DoneFile(doneFile, false);
  const abort = () => host.request('abort');
  const parent = options.fluentd === undefined && start !== SEARCH;
  try {
    const found = await findSubject(host, { ...namedIn(options), command, mayAsk: true });
    const subject = subjectFor(found, { stopVia, doneProcess });
    const policy = {
      ...policyOf(options),
      parent,
      doneProcess: doneProcess !== undefined,
      tail: tailFacts(found.conf),
    };
    host.watchFiles(found.posFiles, () => {});
    marker?.watch(() => host.request('done-file'));
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const fluentd = await start();
    return await watchLoop(host, { subject: { ...subject, fluentd }, policy, report: reporterOf(options) });
  } finally {
    signal?.removeEventListener('abort', abort);
    marker?.close();
    host.close();
  }
}

function namedIn({ posFiles = [], fluentConf }: Pick<WatchOptions, 'posFiles' | 'fluentConf'>) {
  return { posFiles, fluentConf };
}

function policyOf(options: WatchOptions): Policy {
  const { doneFile, doneProcess, signal } = options;
  const quiet = (doneFile ?? doneProcess ?? signal) === undefined ? DEFAULT_POLICY.quiet : 'off';
  const names = Object.keys(DEFAULT_POLICY) as (keyof Policy)[];
  const given = names.filter((name) => name in options && options[name as keyof WatchOptions] !== undefined);
  return {
    ...DEFAULT_POLICY,
    quiet,
    ...Object.fromEntries(given.map((name) => [name, options[name as keyof WatchOptions]])),
  };
}

function reporterOf({ onTransition }: WatchOptions): Reporter {
  return {
    transition: ({ from, to, why }) => onTransition?.({ from, to, why }),
    looked: () => {},
    performed: () => {},
  };
}
