import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, type Outcome } from '../core/drain/outcome.ts';
import { DEFAULT_POLICY, type Policy } from '../core/drain/policy.ts';
import { IS_DATABASE, isDatabase } from '../core/pos-file/pos-file.ts';
import type { FluentdTarget } from '../core/progress/fluentd-reading.ts';
import type { Role } from '../core/progress/limits.ts';
import { formatDuration, type Millis } from '../core/text/units.ts';
import { type Reporter, runLoop } from '../daemon/loop.ts';
import { expandAll } from '../daemon/read-pos-files.ts';
import { inWords } from '../node/files/in-words.ts';
import type { NodeHost } from '../node/node-host.ts';
import { sharedDir } from '../node/witness/shared-dir.ts';
import { loadedWitness } from '../node/witness/write-witness.ts';
import { armedBy, openTriggers } from './arm-triggers.ts';
import { type FoundPosFiles, findPosFiles } from './find-conf.ts';
import type { Parent } from './parent.ts';
import { CommandError, UsageError } from './usage-error.ts';
import { policyOf, type WatchOptions } from './watch-options.ts';

export interface WatchReporter extends Reporter {
  warned?(text: string): void;
  /** Called when Fluentd is gone, before a parent kills the rest of its command. */
  ended?(outcome: Outcome): Promise<void>;
}

export interface WatchSetup {
  /** Called after all options are checked and before anything starts. */
  readonly begin: (found: FoundPosFiles, policy: Policy, armed: readonly string[]) => Promise<WatchReporter>;
  /** Starts Fluentd. Without a parent posidle looks for a running one. */
  readonly parent?: Parent | undefined;
  /** If given, posidle looks for no pos files and no configuration. */
  readonly found?: FoundPosFiles;
}

export async function watchFluentd(
  host: NodeHost,
  options: WatchOptions,
  { begin, parent, found: known }: WatchSetup,
): Promise<Outcome> {
  const { witness, doneFile, doneProcess } = options;
  try {
    const isOff = witness === 'off';
    const shared = parent === undefined && !isOff ? (witness ?? sharedDir()) : undefined;
    const hasWitness = shared !== undefined || (parent !== undefined && !isOff);
    const wanted = { ...options, command: parent?.command, isOfFluentd: true, hasWitness };
    const found = known ?? (await inTime(findPosFiles(host, wanted)));
    if (found.posFiles.length === 0 && found.conf !== undefined && parent === undefined)
      throw new CommandError(`${found.confPath} ${NOTHING}`, EXIT.cannotWork);
    // Bounded, because a dead mount never answers.
    const paths = await host.within(pathsOf(host, found.posFiles), host.now());
    const role: Role = parent === undefined ? 'beside' : 'parent';
    const policy = policyOf(options, found.conf, role);
    const report = await begin({ ...found, witness: shared }, policy, armedBy(options, policy));
    const warn = (text: string) => report.warned?.(text);
    host.watchTriggers(openTriggers(options, policy, warn));
    host.watchFiles([paths ?? [], doneFile ?? []].flat(), (why) =>
      warn(`the system does not report changes of files (${why}). ${ONLY_CLOCK}`),
    );
    const { posFiles, conf } = found;
    const own = parent && (await ownWitness(witness, warn));
    // Without a pos file nothing proves which process it is, but a witness is asked by its directory.
    const beside: FluentdTarget = { by: posFiles.length === 0 ? 'witness' : 'search' };
    const fluentd = (await parent?.start(own?.env)) ?? beside;
    const subject = {
      posFiles,
      conf,
      role,
      doneProcess,
      fluentd,
      witness: own?.dir ?? shared,
      self: process.pid,
    };
    const outcome = await runLoop(host, { subject, policy, report });
    await report.ended?.(outcome);
    await parent?.killRest();
    return outcome;
  } catch (error) {
    // Even if posidle fails, Fluentd must stop properly.
    await parent?.shutDown('SIGINT', options.stopTimeout ?? DEFAULT_POLICY.stopTimeout);
    throw error;
  } finally {
    host.close();
  }
}

/** A dead mount never answers. */
const START_PATIENCE: Millis = 10_000;

async function inTime<Found>(work: Promise<Found>): Promise<Found> {
  const late = pause(START_PATIENCE, undefined, { ref: false }).then(() => {
    const why = `fluent.conf and the pos files were not found within ${formatDuration(START_PATIENCE)}`;
    throw new CommandError(`${why}: a mount does not answer, or the machine is very busy`, EXIT.cannotWork);
  });
  return await Promise.race([work, late]);
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
