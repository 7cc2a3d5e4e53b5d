import { EXIT, type Outcome } from '../core/drain/outcome.ts';
import type { Policy } from '../core/drain/policy.ts';
import { IS_DATABASE, isDatabase } from '../core/pos-file/pos-file.ts';
import type { FluentdTarget } from '../core/progress/fluentd-reading.ts';
import { type Reporter, runLoop } from '../daemon/loop.ts';
import { expandAll } from '../daemon/read-pos-files.ts';
import { inWords } from '../node/files/in-words.ts';
import type { NodeHost } from '../node/node-host.ts';
import { sharedDir } from '../node/witness/shared-dir.ts';
import { loadedWitness } from '../node/witness/write-witness.ts';
import { armedBy, openTriggers } from './arm-triggers.ts';
import { type FoundPosFiles, findPosFiles } from './find-conf.ts';
import { inTime } from './in-time.ts';
import type { Parent } from './parent.ts';
import { CommandError, UsageError } from './usage-error.ts';
import { policyOf, type WatchOptions } from './watch-options.ts';

export interface WatchPlan {
  readonly found: FoundPosFiles;
  readonly policy: Policy;
  /** What begins the drain without a call or a signal. */
  readonly armed: readonly string[];
  /** Their changes wake posidle. */
  readonly paths: readonly string[];
}

/** Checks all options, and starts nothing. `drain` has `known`: then posidle looks for no pos files and no configuration. */
export async function planWatch(
  host: NodeHost,
  options: WatchOptions,
  parent?: Parent,
  known?: FoundPosFiles,
): Promise<WatchPlan> {
  const { witness, doneFile } = options;
  const isOff = witness === 'off';
  const shared = parent === undefined && !isOff ? (witness ?? sharedDir()) : undefined;
  const hasWitness = shared !== undefined || (parent !== undefined && !isOff);
  const wanted = { ...options, command: parent?.command, isOfFluentd: true, hasWitness };
  const found = known ?? (await inTime(findPosFiles(host, wanted), EXIT.cannotWork));
  if (found.posFiles.length === 0 && found.conf !== undefined && parent === undefined)
    throw new CommandError(`${found.confPath} ${NOTHING}`, EXIT.cannotWork);
  // Bounded, because a dead mount never answers.
  const posFiles = await host.within(pathsOf(host, found.posFiles), host.now());
  const policy = policyOf(options, found.conf, parent === undefined ? 'beside' : 'parent');
  return {
    found: { ...found, witness: shared },
    ...{ policy, armed: armedBy(options, policy), paths: [posFiles ?? [], doneFile ?? []].flat() },
  };
}

/** Watches until Fluentd is gone. With a parent it starts Fluentd, else it looks for a running one. */
export async function watchFluentd(
  host: NodeHost,
  options: WatchOptions,
  { found, policy, paths }: WatchPlan,
  report: WatchReporter,
  parent?: Parent,
): Promise<Outcome> {
  const { posFiles, conf } = found;
  try {
    host.watchTriggers(openTriggers(options, policy, report.warned));
    host.watchFiles(paths, (why) =>
      report.warned(`the system does not report changes of files (${why}). ${ONLY_CLOCK}`),
    );
    const own = parent && (await ownWitness(options.witness, report.warned));
    // Without a pos file nothing proves which process it is, but a witness is asked by its directory.
    const beside: FluentdTarget = { by: posFiles.length === 0 ? 'witness' : 'search' };
    const fluentd = (await parent?.start(own?.env)) ?? beside;
    const { doneProcess } = options;
    const witness = own?.dir ?? found.witness;
    const subject = { posFiles, conf, doneProcess, fluentd, witness, self: process.pid };
    const outcome = await runLoop(host, { subject, policy, report });
    await report.ended(outcome);
    await parent?.killRest();
    return outcome;
  } catch (error) {
    // Even if posidle fails, Fluentd must stop properly.
    await parent?.shutDown('SIGINT', policy.stopTimeout);
    throw error;
  } finally {
    host.close();
  }
}

export interface WatchReporter extends Reporter {
  warned(this: void, text: string): void;
  /** Called when Fluentd is gone, before a parent kills the rest of its command. */
  ended(outcome: Outcome): Promise<void>;
}

const NOTHING =
  'has no in_tail source: nothing to watch. Give Fluentd a witness (`posidle witness` shows how), and posidle drains it';
const ONLY_CLOCK = 'posidle looks once a second instead; that loses nothing';

/** The paths of the pos files. Throws a UsageError for a database of Fluent Bit. */
async function pathsOf(host: NodeHost, posFiles: readonly string[]): Promise<readonly string[]> {
  const paths = [...(await expandAll(host, posFiles)).keys()];
  for (const path of paths) {
    const { bytes } = (await host.readFile(path).catch(() => undefined)) ?? {};
    if (bytes && isDatabase(bytes)) throw new UsageError(`--pos-file: ${path} ${IS_DATABASE}`);
  }
  return paths;
}

/** Writes the witness before Fluentd starts. If that fails, it warns and Fluentd starts without one. */
async function ownWitness(witness: string | undefined, warn: (text: string) => void) {
  if (witness === 'off') return undefined;
  try {
    return await loadedWitness(witness, process.env);
  } catch (error) {
    const why = inWords(error as NodeJS.ErrnoException);
    warn(`Fluentd starts without a witness: ${why}. Give --witness a directory that Fluentd may write to`);
    return undefined;
  }
}
