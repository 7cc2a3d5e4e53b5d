import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { DEFAULT_POLICY, type Policy } from '../core/drain/policy.ts';
import { tailFacts } from '../core/fluent-conf/facts.ts';
import { CONFIRM_AFTER, isInDoubt, observeAges, presumeStuck } from '../core/inspect/ages.ts';
import { type Found, foundBy } from '../core/inspect/found.ts';
import type { Paces } from '../core/inspect/paces.ts';
import { diagnose, type Finding } from '../core/inspect/pos-file-diagnosis.ts';
import type { Snapshot } from '../core/look/snapshot.ts';
import type { Observation } from '../core/observe/observation.ts';
import { observe } from '../core/observe/observe.ts';
import { NEWLINE, parsePosFile } from '../core/pos-file/pos-file.ts';
import { counted } from '../core/text/units.ts';
import { FollowedFiles } from '../daemon/list-followed.ts';
import { LogFileLooks } from '../daemon/look-at-files.ts';
import { listPutAside, readBuffers } from '../daemon/read-buffers.ts';
import { PosFiles } from '../daemon/read-pos-files.ts';
import type { FileContent, Host } from '../host.ts';
import { BelowRoot, placesBelow } from '../node/files/below-root.ts';
import { fileStamp, type PlaceOf } from '../node/files/files.ts';
import { inWords } from '../node/files/in-words.ts';
import { readPosBytes } from '../node/files/pos-bytes.ts';
import type { NodeHost } from '../node/node-host.ts';
import { type Found as FoundConf, findPosFiles, type Wanted } from './find-pos-files.ts';
import { UsageError } from './usage-error.ts';

/** Can be read only once. */
export const STDIN = '-';

/** What is to be inspected. */
export interface InspectSubject extends Pick<FoundConf, 'conf' | 'warnings'> {
  /** The directory of the witnesses' sockets. */
  readonly witness: string | undefined;
  /** Their names. */
  posFiles(): Promise<readonly string[]>;
  /** Where a pos file lies for us. */
  readonly placeOf: PlaceOf;
}

interface InspectWanted extends Pick<Wanted, 'posFiles' | 'fluentConf'> {
  readonly witness?: string | undefined;
  /** Where the file system begins that is meant. */
  readonly root?: string | undefined;
}

/** What is meant; throws where there is nothing to look at. */
export async function inspectSubject(host: NodeHost, wanted: InspectWanted): Promise<InspectSubject> {
  const { root, fluentConf, witness } = wanted;
  if (root !== undefined) await refuseRoot(root);
  const below = root === undefined ? undefined : new BelowRoot(root);
  const posFiles = await expandAll(host, wanted.posFiles);
  const { conf, warnings, posFiles: known } = await findPosFiles(host, { posFiles, fluentConf, below });
  const patterns = posFiles.length > 0 ? wanted.posFiles : known;
  const placeOf = (name: string) => placeOrNone(name, root);
  return { conf, warnings, witness, posFiles: () => expandAll(host, patterns), placeOf };
}

async function refuseRoot(root: string): Promise<void> {
  const found = await stat(root).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) throw new UsageError(`\`root\`: ${root}: ${inWords(found)}; ${ROOTS}`);
  if (!found.isDirectory()) throw new UsageError(`\`root\`: ${root} isn't a directory; ${ROOTS}`);
}

const ROOTS = "name a node's mount or /proc/PID/root";

/** Links without end lead nowhere. */
function placeOrNone(name: string, root: string | undefined): string {
  try {
    return name === STDIN ? STDIN : placesBelow(root)(name);
  } catch {
    return `/dev/null${name}`;
  }
}

/** The first name of a file is the one that it keeps. */
async function expandAll(host: NodeHost, patterns: readonly string[]): Promise<readonly string[]> {
  const names = await Promise.all(
    patterns.map((pattern) => (pattern === STDIN ? [STDIN] : host.expand(pattern))),
  );
  const byFile = new Map<string, string>();
  for (const name of names.flat()) {
    const file = name === STDIN ? STDIN : resolve(name);
    if (!byFile.has(file)) byFile.set(file, name);
  }
  return [...byFile.values()];
}

/** `inspect` reads files only: it does not look for Fluentd. */
const NOT_LOOKED_FOR = { kind: 'absent', why: 'posidle did not look for Fluentd' } as const;

/** An entry takes about 1 KB while it is looked at. */
const MOST_LINES = 100_000;

/** Looks at what is to be inspected, once or again and again, as the daemon does. */
export class Inspector {
  readonly #host: Host;
  readonly #subject: InspectSubject;
  readonly #paces: Paces | undefined;
  readonly #policy: Policy;
  readonly #posFiles: PosFiles;
  readonly #logFiles: LogFileLooks;
  readonly #followed: FollowedFiles;
  /** What is odd in a pos file, by its name. */
  readonly #findings = new Map<string, readonly Finding[]>();
  #putAside: ReadonlySet<string> | undefined;
  #seen: Observation | undefined;

  /** `paces`: the looks follow one another; undefined: one look is all. */
  constructor(host: Host, subject: InspectSubject, paces?: Paces) {
    this.#host = host;
    this.#subject = subject;
    this.#paces = paces;
    this.#policy = { ...DEFAULT_POLICY, tail: tailFacts(subject.conf) };
    this.#posFiles = new PosFiles({
      now: () => host.now(),
      expand: async (name) => [name],
      fileStamp: async (name) => (name === STDIN ? undefined : await fileStamp(subject.placeOf(name))),
      readFile: (name) => this.#readPosFile(name),
    });
    this.#logFiles = new LogFileLooks(host);
    this.#followed = new FollowedFiles(host, subject.conf);
  }

  /** Where no look follows, and one cannot tell whether in_tail stands still, a second one can. */
  async look(): Promise<Found> {
    const snapshot = await this.#snapshot();
    const { posFiles } = snapshot;
    const seen = observe(this.#seen ?? observeAges(snapshot, this.#policy), snapshot, this.#policy);
    this.#seen = seen;
    const isReadOnce = posFiles.some(({ path }) => path === STDIN);
    if (this.#paces !== undefined || isReadOnce || !isInDoubt(seen, posFiles))
      return this.#found(snapshot, seen);
    await this.#host.sleep(this.#host.now() + CONFIRM_AFTER);
    const second = await this.#snapshot();
    return this.#found(second, observe(presumeStuck(seen), second, this.#policy));
  }

  /** Positions first, sizes after, buffers last: as in daemon/collect.ts. */
  async #snapshot(): Promise<Snapshot> {
    const host = this.#host;
    const { conf, witness } = this.#subject;
    const posFiles = await this.#posFiles.read(await this.#subject.posFiles());
    const lookedAt = host.now();
    const looks = await this.#logFiles.look(posFiles);
    const followed = await this.#followed.list(this.#paces === undefined ? 'all' : 'rest', looks);
    const testimony = witness === undefined ? undefined : await host.askWitnesses(witness);
    this.#putAside ??= await listPutAside(host, { conf });
    const buffers = await readBuffers(host, { conf, putAsideBefore: this.#putAside });
    return {
      ...{ lookedAt, at: Math.round(host.now()), depth: 'all', posFiles, looks, followed },
      ...{ source: testimony === undefined ? 'outside' : 'witness', testimony, buffers },
      ...{ fluentd: NOT_LOOKED_FOR, mains: undefined, requests: [] },
    };
  }

  #found(snapshot: Snapshot, seen: Observation): Found {
    this.#paces?.take(seen);
    const findingsIn = (path: string) => this.#findings.get(path) ?? [];
    return foundBy(snapshot, seen, this.#policy, findingsIn, this.#paces);
  }

  async #readPosFile(name: string): Promise<FileContent | undefined> {
    const { conf, placeOf } = this.#subject;
    const found = await readPosBytes(placeOf(name));
    if (found === undefined) return undefined;
    const { bytes, writtenAgo } = found;
    // A FIFO that nobody writes to, a command that failed in front of `inspect -`: no word of Fluentd's.
    if (bytes.length === 0 && writtenAgo === null) throw new Error('nothing came through it');
    refuseCrowd(bytes);
    // A pos file does not change its kind from look to look.
    if (this.#paces === undefined) {
      const source = conf?.sources.find(({ posFile }) => posFile === name);
      this.#findings.set(name, diagnose(parsePosFile(bytes).entries, source?.followInodes));
    }
    return { bytes, writtenAgo: writtenAgo ?? Number.POSITIVE_INFINITY };
  }
}

function refuseCrowd(bytes: Uint8Array): void {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  if (lines <= MOST_LINES) return;
  throw new Error(
    `it has ${counted(lines, 'line')}, and at most ${MOST_LINES} are looked at: set pos_file_compaction_interval`,
  );
}
