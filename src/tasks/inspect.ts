import { stat } from 'node:fs/promises';
import { DEFAULT_POLICY, type Policy } from '../core/drain/policy.ts';
import { tailFacts } from '../core/fluent-conf/tail.ts';
import { filesBy } from '../core/inspect/by-witness.ts';
import { knownByAges } from '../core/inspect/first-look.ts';
import { type Found, foundBy } from '../core/inspect/found.ts';
import { diagnose } from '../core/inspect/pos-file-diagnosis.ts';
import type { Rates } from '../core/inspect/rates.ts';
import type { Observation, ObservedFile } from '../core/look/observation.ts';
import { observe, observeOnce } from '../core/look/observe.ts';
import type { PosFileReading, Snapshot } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import { Collector } from '../daemon/collect.ts';
import type { Host } from '../host.ts';
import { inWords } from '../node/files/in-words.ts';
import { type ConfWanted, type FoundPosFiles, findPosFiles } from './find-conf.ts';
import { UsageError } from './usage-error.ts';

interface InspectSubject
  extends Pick<FoundPosFiles, 'conf' | 'warnings'>,
    Omit<Subject, 'fluentd' | 'doneProcess'> {
  /** Why there is nothing to inspect. */
  readonly nothing?: string | undefined;
}

interface InspectWanted extends Pick<ConfWanted, 'fluentConf' | 'root'> {
  readonly posFiles: readonly string[];
  readonly witness?: string | undefined;
}

/** Finds the files to inspect. Throws a UsageError if there are none. `root`: the root directory of `host`. */
export async function inspectSubject(host: Host, wanted: InspectWanted): Promise<InspectSubject> {
  const { root, fluentConf, witness } = wanted;
  if (root !== undefined) await refuseRoot(root);
  // The container of posidle has Fluentd's witness, but none of its files.
  if (witness !== undefined && fluentConf === undefined && wanted.posFiles.length === 0)
    return { conf: undefined, warnings: [], witness, posFiles: [] };
  const { confPath, ...found } = await findPosFiles(host, wanted);
  const nothing =
    found.posFiles.length > 0 || witness !== undefined
      ? undefined
      : `${confPath} has no in_tail source: nothing to inspect`;
  return { ...found, nothing, witness };
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

export class Inspector {
  readonly #host: Host;
  readonly #subject: InspectSubject;
  readonly #rates: Rates | undefined;
  readonly #policy: Policy;
  readonly #collector: Collector;
  #seen: Observation | undefined;

  /** `rates`: for repeated looks; undefined for a single one. */
  constructor(host: Host, subject: InspectSubject, rates?: Rates) {
    this.#host = host;
    this.#subject = subject;
    this.#rates = rates;
    this.#policy = { ...DEFAULT_POLICY, tail: tailFacts(subject.conf?.sources) };
    // An inspection shows the files beside the witness's answer. The daemon would leave them out.
    const fluentd = { by: 'search' } as const;
    this.#collector = new Collector(host, {
      ...subject,
      witness: undefined,
      fluentd,
      doneProcess: undefined,
    });
  }

  async look(): Promise<Found> {
    const snapshot = await this.#snapshot();
    const known = knownByAges(snapshot.at);
    if (this.#rates === undefined) return this.#found(snapshot, observeOnce(snapshot, this.#policy, known));
    this.#seen = observe(this.#seen, snapshot, this.#policy, known);
    return this.#found(snapshot, this.#seen);
  }

  async #snapshot(): Promise<Snapshot> {
    const { posFiles, witness } = this.#subject;
    const looked = await this.#collector.look('all', ONLY_FILES);
    const at = Math.round(looked.at);
    if (witness === undefined) return { ...looked, at };
    const reports = await this.#host.askWitnesses(witness, 'look');
    return {
      ...looked,
      at,
      source: 'witness',
      reports,
      ...(posFiles.length === 0 && filesBy(reports, witness)),
    };
  }

  #found(snapshot: Snapshot, seen: Observation): Found {
    this.#rates?.take(seen);
    const { conf } = this.#subject;
    const findingsIn = (reading: PosFileReading, files: readonly ObservedFile[]) => {
      // Only for a single look: repeated looks would find the same.
      if (reading.kind !== 'read' || this.#rates !== undefined) return [];
      const source = conf?.sources.find(({ posFile }) => posFile === reading.path);
      return diagnose(reading, source?.followInodes, files);
    };
    return foundBy(snapshot, seen, findingsIn, this.#rates);
  }
}
