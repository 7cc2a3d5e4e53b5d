import { type ConfFacts, tailFacts } from '../core/fluent-conf/facts.ts';
import type { TailSource } from '../core/fluent-conf/tail.ts';
import { type BuffersReading, heldBy } from '../core/fluentd/buffer-contents.ts';
import { type FluentdReading, findMains } from '../core/fluentd/processes.ts';
import type { Depth, FileLook, FollowedReading, PosFileReading, Snapshot } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import type { Awaited, Gone } from '../core/observe/observation.ts';
import { entryKeyIn, latestEntries } from '../core/pos-file/pos-file.ts';
import type { Millis } from '../core/text/units.ts';
import type { Host, OpenFiles } from '../host.ts';
import { lookAtGone, lookAtOpen, openedOf, pidsOf } from './look-at-gone.ts';
import { readBuffers } from './read-buffers.ts';
import { PosFiles } from './read-pos-files.ts';

/** How often new files are looked for at rest. What comes and goes in less time is not seen. */
const LISTING_AGE: Millis = 1_000;
/** How often the buffers are looked at at rest: soon after lines were read, and now and then anyway. */
const BUSY_LEDGER: Millis = 2_000;
const IDLE_LEDGER: Millis = 10_000;
/** And while an output holds chunks that it may throw away: what lives for less time is not seen. */
const ANXIOUS_LEDGER: Millis = 1_000;

/** How much a look takes in, and what is known before it. */
export interface View {
  readonly depth: Depth;
  readonly fluentd: FluentdReading;
  /** The last movement of any position that was seen. */
  readonly movedAt: Millis | undefined;
  /** The files that went away from their paths. */
  readonly gone?: ReadonlyMap<string, Gone>;
  /** The files that in_tail had still to find, by inode. */
  readonly awaited?: ReadonlyMap<string, Awaited>;
}

/** Takes looks at the world; remembers what need not be looked at each time. */
export class Collector {
  readonly #host: Host;
  readonly #subject: Subject;
  /** Below a limit in_tail reads the rest of a renamed file slowly. */
  readonly #isLimited: boolean;
  readonly #posFiles: PosFiles;
  #listing: { readonly at: Millis; readonly followed: readonly FollowedReading[] } | undefined;
  #buffersAt: Millis | undefined;
  #buffers: BuffersReading | undefined;

  constructor(host: Host, subject: Subject) {
    this.#host = host;
    this.#subject = subject;
    this.#posFiles = new PosFiles(host);
    this.#isLimited = tailFacts(subject.conf).readLimit !== undefined;
  }

  /**
   * One look, at the fluentd that was just looked for. Positions first, sizes after: a position that has reached a size seen
   * later has reached every byte before it. Buffers last: in_tail moves a position only when the buffer has taken the lines
   * (in_tail.rb:1269).
   */
  async look({ depth, fluentd, movedAt, gone: known, awaited }: View): Promise<Snapshot> {
    const host = this.#host;
    const { posFiles: patterns, doneProcess } = this.#subject;
    const posFiles = await this.#posFiles.read(patterns);
    const open = host.openFiles(pidsOf(fluentd));
    const looks = await lookAtFiles(host, posFiles, open);
    const gone = await lookAtGone(host, known, { open, fluentd, isLimited: this.#isLimited });
    const followed = await this.#listFollowed(depth);
    const permissions = await closedFiles(host, { posFiles, followed, fluentd });
    const buffers = await this.#readBuffers(depth, movedAt);
    const mains = doneProcess && findMains(await host.listProcesses(), doneProcess, host.self);
    const requests = host.requests();
    const opened = openedOf(open, { awaited, followed });
    const files = { posFiles, looks, gone, opened, followed, ...permissions };
    return { at: host.now(), depth, mains, ...files, buffers, fluentd, requests };
  }

  async #listFollowed(depth: Depth): Promise<readonly FollowedReading[]> {
    const at = this.#host.now();
    const isFresh = this.#listing !== undefined && at - this.#listing.at < LISTING_AGE;
    if (depth === 'rest' && isFresh) return this.#listing?.followed ?? [];
    const followed = await listFollowed(this.#host, this.#subject.conf);
    this.#listing = { at, followed };
    return followed;
  }

  async #readBuffers(depth: Depth, movedAt: Millis | undefined): Promise<BuffersReading | undefined> {
    const at = this.#host.now();
    if (depth === 'rest' && !this.#isLedgerDue(at, movedAt)) return undefined;
    this.#buffersAt = at;
    this.#buffers = await readBuffers(this.#host, this.#subject.conf, depth !== 'last');
    return this.#buffers;
  }

  #isLedgerDue(at: Millis, movedAt: Millis | undefined): boolean {
    if (this.#buffersAt === undefined) return true;
    const hasMoved = movedAt !== undefined && movedAt >= this.#buffersAt;
    if (mayThrowAway(this.#buffers)) return at - this.#buffersAt >= ANXIOUS_LEDGER;
    return at - this.#buffersAt >= (hasMoved ? BUSY_LEDGER : IDLE_LEDGER);
  }
}

function mayThrowAway(buffers: BuffersReading | undefined): boolean {
  const outputs = buffers?.outputs ?? [];
  return outputs.some((output) => output.retryLimit !== undefined && heldBy(output).bytes > 0);
}

interface Followed extends Pick<Snapshot, 'posFiles' | 'followed' | 'fluentd'> {}

const NONE: ReadonlySet<string> = new Set();

/** The files that Fluentd should read, has read nothing of, and may not read. */
async function closedFiles(
  host: Host,
  { posFiles, followed, fluentd }: Followed,
): Promise<Pick<Snapshot, 'closed' | 'unsure'>> {
  const entries = posFiles.flatMap((reading) => (reading.kind === 'read' ? reading.entries : []));
  const begun = new Set(entries.filter(({ position }) => position !== 0).map(({ path }) => path));
  const waiting = followed
    .flatMap(({ files }) => files)
    .filter(({ path, size }) => size > 0 && !begun.has(path));
  // A reader looks at the process first.
  if (waiting.length === 0) return { closed: NONE, unsure: NONE };
  const pid = fluentd.kind === 'running' ? (fluentd.workers[0] ?? fluentd.supervisor).pid : undefined;
  const answers = await host.mayRead(
    pid,
    waiting.map(({ path }) => path),
  );
  const pathsWith = (answer: boolean | undefined) =>
    new Set([...answers].filter(([, found]) => found === answer).map(([path]) => path));
  return { closed: pathsWith(false), unsure: pathsWith(undefined) };
}

/** The files that each source is to read. */
export async function listFollowed(
  host: Pick<Host, 'listFollowed'>,
  conf: Pick<ConfFacts, 'sources' | 'hidden'> | undefined,
): Promise<readonly FollowedReading[]> {
  const { sources, hidden } = conf ?? { sources: [], hidden: [] };
  const known = sources.flatMap((source) =>
    source.posFile === undefined ? [] : [followedBy(host, source, source.posFile)],
  );
  const unknown = hidden.map((why) => ({ ...NOT_KNOWN, unknown: why }));
  return [...(await Promise.all(known)), ...unknown];
}

const NOT_KNOWN = { posFile: 'further sources', refreshInterval: 0, byInode: false, files: [] } as const;

async function followedBy(
  host: Pick<Host, 'listFollowed'>,
  source: TailSource,
  posFile: string,
): Promise<FollowedReading> {
  const { refreshInterval, followInodes: byInode } = source;
  const reading = { posFile, refreshInterval, byInode };
  if (source.paths.length === 0) return { ...reading, files: [], unknown: 'its path could not be evaluated' };
  try {
    return { ...reading, files: await host.listFollowed(source) };
  } catch (error) {
    return { ...reading, files: [], unknown: messageOf(error) };
  }
}

/** The log file of every entry that counts, by `entryKeyIn`. */
export async function lookAtFiles(
  host: Host,
  posFiles: readonly PosFileReading[],
  open: OpenFiles,
): Promise<Snapshot['looks']> {
  const looks = new Map<string, FileLook>();
  for (const reading of posFiles) {
    if (reading.kind !== 'read') continue;
    const entries = latestEntries(reading.entries, undefined);
    await host.lookAt(entries, (entry, look) =>
      looks.set(entryKeyIn(reading.path, entry), lookAtOpen(open, look, entry)),
    );
  }
  return looks;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
