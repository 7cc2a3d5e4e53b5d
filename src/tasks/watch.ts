import { existsSync } from 'node:fs';
import type { Outcome } from '../core/drain/outcome.ts';
import type { Policy } from '../core/drain/policy.ts';
import { type ConfFacts, tailFacts } from '../core/fluent-conf/facts.ts';
import { quietNeededBy } from '../core/fluent-conf/warnings.ts';
import { IS_DATABASE, isDatabase } from '../core/pos-file/pos-file.ts';
import { SHARED_DIR } from '../core/witness/load.ts';
import { type Reporter, watch as watchLoop } from '../daemon/loop.ts';
import { listPutAside } from '../daemon/read-buffers.ts';
import { expandAll } from '../daemon/read-pos-files.ts';
import { inWords } from '../node/files/in-words.ts';
import type { NodeHost } from '../node/node-host.ts';
import { type Armed, armedBy, openTriggers } from './arm-triggers.ts';
import { type Found, findPosFiles, type Wanted } from './find-pos-files.ts';
import type { Parent } from './parent.ts';
import { UsageError } from './usage-error.ts';
import { policyOf, type Settings, settingsOf, type WatchOptions } from './watch-options.ts';
import { loadedWitness } from './witness.ts';

/** Is told what happens. */
export interface WatchReporter extends Reporter {
  /** The system tells of no changed files: only the clock is left. */
  withoutEvents?(why: string): void;
  /** A trigger cannot be believed for now. */
  warned?(text: string): void;
  /** Fluentd is gone; what is left of a parent's command is not. */
  ended?(outcome: Outcome): Promise<void>;
}

export interface Surroundings extends Pick<Wanted, 'nameOptions'> {
  /** Called once all options are validated, before anything is started. */
  readonly begin: (found: Found, policy: Policy, armed: Armed) => Promise<WatchReporter>;
  /** Starts Fluentd; without it one is looked for. */
  readonly parent?: Parent | undefined;
  /** What is known already: nothing is looked for. */
  readonly found?: Found;
}

/** Watches a Fluentd until it is gone. Whoever has the host may call for the end at any time. */
export async function watch(
  host: NodeHost,
  options: WatchOptions,
  surroundings: Surroundings,
): Promise<Outcome> {
  const { parent } = surroundings;
  const settings = settingsOf(options, parent !== undefined);
  let report: WatchReporter | undefined;
  /** What a trigger told before anybody listened. */
  const early: string[] = [];
  const begin: Surroundings['begin'] = async (...facts) => {
    report = await surroundings.begin(...facts);
    for (const text of early.splice(0)) report.warned?.(text);
    return report;
  };
  const closeTriggers = openTriggers(settings, {
    request: (by) => host.request(by),
    warn: (text) => (report === undefined ? early.push(text) : report.warned?.(text)),
  });
  try {
    return await findAndWatch(
      host,
      { settings, fitsQuiet: options.quiet === undefined },
      { ...surroundings, begin },
    );
  } catch (error) {
    // Whatever is wrong with posidle, Fluentd gets its orderly end.
    await parent?.shutDown('SIGINT', settings.stopTimeout);
    throw error;
  } finally {
    closeTriggers();
    host.close();
  }
}

/** An end before the kubelet's SIGTERM would stop nothing: the kubelet starts posidle again. */
function refuseBesideKubelet(settings: Settings, isParent: boolean): void {
  if (isParent)
    throw new UsageError('`nativeSidecar` is not for a parent of Fluentd: the kubelet stops both at once');
  const { byItself, when } = armedBy(settings);
  if (!byItself) return;
  throw new UsageError(
    `\`nativeSidecar\`: only the kubelet begins the drain. Leave out the trigger that begins it when ${when.join(', or when ')}`,
  );
}

/** They belong to Fluent Bit. */
async function refuseDatabases(host: NodeHost, posFiles: readonly string[]): Promise<object> {
  const paths = await expandAll(host, posFiles);
  for (const path of paths.keys()) {
    const { bytes } = (await host.readFile(path).catch(() => undefined)) ?? {};
    if (bytes && isDatabase(bytes)) throw new UsageError(`\`posFiles\`: ${path}: ${IS_DATABASE}`);
  }
  return paths;
}

interface Asked {
  readonly settings: Settings;
  /** The quiet window is posidle's to choose. */
  readonly fitsQuiet: boolean;
}

/** The default is never shorter than in_tail needs to find a new file. */
function withFittingQuiet(settings: Settings, conf: ConfFacts | undefined): Settings {
  if (settings.quiet === 'off' || conf === undefined) return settings;
  return { ...settings, quiet: Math.max(settings.quiet, ...conf.sources.map(quietNeededBy)) };
}

async function findAndWatch(
  host: NodeHost,
  { settings: asked, fitsQuiet }: Asked,
  { begin, parent, nameOptions, found: known }: Surroundings,
): Promise<Outcome> {
  const { posFiles, fluentConf, fluentd, nativeSidecar, doneProcess } = asked;
  const isParent = parent !== undefined;
  const found =
    known ??
    (await findPosFiles(host, {
      posFiles,
      fluentConf,
      fluentd,
      command: parent?.command,
      isOfFluentd: true,
      nameOptions,
    }));
  const settings = fitsQuiet ? withFittingQuiet(asked, found.conf) : asked;
  if (nativeSidecar) refuseBesideKubelet(settings, isParent);
  const policy = policyOf(settings, { tail: tailFacts(found.conf), parent: isParent });
  const { witness: given = isParent ? undefined : sharedDir() } = settings;
  const shared = isParent || given === 'off' ? undefined : given;
  // A mount that does not answer must not keep posidle from its work.
  await host.within(refuseDatabases(host, found.posFiles), host.now());
  const report = await begin({ ...found, witness: shared }, policy, armedBy(settings));
  const paths = await expandAll(host, found.posFiles);
  host.watchFiles([...paths.keys()], (why) => report.withoutEvents?.(why));
  const { conf } = found;
  const isOwn = parent !== undefined && given !== 'off';
  const witness = isOwn ? await ownWitness(given, parent, (text) => report.warned?.(text)) : shared;
  const putAsideBefore = await listPutAside(host, { conf });
  const target = (await parent?.start()) ?? fluentd;
  const what = { posFiles: found.posFiles, conf, putAsideBefore };
  const subject = { ...what, leavesStop: nativeSidecar, doneProcess, fluentd: target, witness };
  const outcome = await watchLoop(host, { subject, policy, report });
  await report.ended?.(outcome);
  await parent?.killRest();
  return outcome;
}

/** Where manifests put the witness, unless the environment names another place. */
function sharedDir(): string | undefined {
  return process.env['POSIDLE_DIR'] ?? (existsSync(SHARED_DIR) ? SHARED_DIR : undefined);
}

/** Writes the witness for the Fluentd that is about to start. */
async function ownWitness(
  witness: string | undefined,
  parent: Parent,
  warn: (text: string) => void,
): Promise<string | undefined> {
  try {
    const loaded = await loadedWitness(witness, process.env);
    parent.giveEnvironment(loaded.env);
    return loaded.dir;
  } catch (error) {
    const why = inWords(error as NodeJS.ErrnoException);
    warn(`Fluentd starts without a witness: ${why}. Give \`witness\` a directory that Fluentd may write to`);
    return undefined;
  }
}
