import { stat } from 'node:fs/promises';
import { DEFAULT_POLICY, type Policy } from '../core/drain/policy.ts';
import { tailFacts } from '../core/fluent-conf/tail.ts';
import { filesBy } from '../core/inspect/by-witness.ts';
import { knownByAges } from '../core/inspect/first-look.ts';
import { type Found, foundBy } from '../core/inspect/found.ts';
import type { Rates } from '../core/inspect/rates.ts';
import type { Observation } from '../core/look/observation.ts';
import { observe, observeOnce } from '../core/look/observe.ts';
import type { Snapshot } from '../core/look/snapshot.ts';
import { Collector } from '../daemon/collect.ts';
import type { Host } from '../host.ts';
import { inWords } from '../node/files/in-words.ts';
import { type ConfWanted, type FoundPosFiles, findPosFiles, NOTHING_FOUND } from './find-conf.ts';
import { UsageError } from './usage-error.ts';

interface InspectWanted extends Pick<ConfWanted, 'fluentConf' | 'root'> {
  readonly posFiles: readonly string[];
  readonly witness?: string | undefined;
}

/** Finds the files to inspect. Throws a UsageError if there are none. `root`: the root directory of `host`. */
export async function inspectSubject(host: Host, wanted: InspectWanted): Promise<FoundPosFiles> {
  const { root, fluentConf, posFiles, witness } = wanted;
  if (root !== undefined) await refuseRoot(root);
  // The container of posidle has Fluentd's witness, but none of its files.
  const hasWitness = witness !== undefined;
  if (hasWitness && fluentConf === undefined && posFiles.length === 0) return { ...NOTHING_FOUND, witness };
  return { ...(await findPosFiles(host, { ...wanted, hasWitness })), witness };
}

async function refuseRoot(root: string): Promise<void> {
  const why = await stat(root).then(
    (found) => (found.isDirectory() ? undefined : `${root} isn't a directory`),
    (error) => `${root}: ${inWords(error)}`,
  );
  if (why !== undefined) throw new UsageError(`--root: ${why}; name a node's mount or /proc/PID/root`);
}

/** `inspect` only reads files. */
const ONLY_FILES = {
  fluentd: { kind: 'absent', why: 'posidle did not look for Fluentd' },
  sign: 'unknown',
  question: 'look',
} as const;

export type Inspect = () => Promise<Found>;

/** Each call is a look. `rates`: for repeated looks; undefined for a single one. */
export function inspector(host: Host, subject: FoundPosFiles, rates?: Rates): Inspect {
  const policy: Policy = { ...DEFAULT_POLICY, tail: tailFacts(subject.conf?.sources) };
  // An inspection shows the files beside the witness's answer. The daemon would leave them out.
  const onlyFiles = { witness: undefined, fluentd: { by: 'search' }, doneProcess: undefined } as const;
  const collector = new Collector(host, { ...subject, ...onlyFiles });
  let seen: Observation | undefined;
  return async () => {
    const snapshot = await snapshotOf(host, subject, collector);
    const known = knownByAges(snapshot.at);
    seen = rates ? observe(seen, snapshot, policy, known) : observeOnce(snapshot, policy, known);
    rates?.take(seen);
    return foundBy(snapshot, seen, subject.conf?.sources, rates);
  };
}

async function snapshotOf(host: Host, subject: FoundPosFiles, collector: Collector): Promise<Snapshot> {
  const { posFiles, witness } = subject;
  const looked = await collector.look('all', ONLY_FILES);
  const at = Math.round(looked.at);
  if (witness === undefined) return { ...looked, at };
  const reports = await host.askWitnesses(witness, 'look');
  const files = posFiles.length === 0 && filesBy(reports, witness);
  return { ...looked, at, source: 'witness', reports, ...files };
}
