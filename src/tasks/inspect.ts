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
import { Files } from '../daemon/look-at-files.ts';
import { Buffers } from '../daemon/read-buffers.ts';
import type { Host } from '../host.ts';
import { inWords } from '../node/files/in-words.ts';
import { type ConfWanted, type FoundPosFiles, findPosFiles } from './find-conf.ts';
import { UsageError } from './usage-error.ts';

interface InspectSubject extends Pick<FoundPosFiles, 'conf' | 'warnings'> {
  /** Why there is nothing to inspect. */
  readonly nothing?: string | undefined;
  readonly witness: string | undefined;
  /** Pos files or globs. */
  readonly posFiles: readonly string[];
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
const NOT_LOOKED_FOR = { kind: 'absent', why: 'posidle did not look for Fluentd' } as const;

/** Takes one or repeated looks, as the daemon does. */
export class Inspector {
  readonly #host: Host;
  readonly #subject: InspectSubject;
  readonly #rates: Rates | undefined;
  readonly #policy: Policy;
  readonly #files: Files;
  readonly #buffers: Buffers;
  #seen: Observation | undefined;

  /** `rates`: for repeated looks; undefined for a single one. */
  constructor(host: Host, subject: InspectSubject, rates?: Rates) {
    this.#host = host;
    this.#subject = subject;
    this.#rates = rates;
    this.#policy = { ...DEFAULT_POLICY, tail: tailFacts(subject.conf?.sources) };
    this.#files = new Files(host, subject);
    this.#buffers = new Buffers(host, subject.conf);
  }

  async look(): Promise<Found> {
    const snapshot = await this.#snapshot();
    const known = knownByAges(snapshot.at);
    if (this.#rates === undefined) return this.#found(snapshot, observeOnce(snapshot, this.#policy, known));
    this.#seen = observe(this.#seen, snapshot, this.#policy, known);
    return this.#found(snapshot, this.#seen);
  }

  /** Looks at files before buffers, as daemon/collect.ts explains. */
  async #snapshot(): Promise<Snapshot> {
    const host = this.#host;
    const { witness } = this.#subject;
    const lookedAt = host.now();
    const files = await this.#files.look('all');
    const reports = witness === undefined ? undefined : await host.askWitnesses(witness, 'look');
    const bySaid = this.#subject.posFiles.length === 0 && reports && filesBy(reports, witness ?? '');
    await this.#buffers.begin();
    const buffers = await this.#buffers.look();
    return {
      ...{ lookedAt, at: Math.round(host.now()), depth: 'all', ...files, ...bySaid },
      ...{ source: reports === undefined ? 'outside' : 'witness', reports, buffers },
      ...{ fluentd: NOT_LOOKED_FOR, mains: undefined, requests: [] },
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
