import { DEFAULT_POLICY } from '../core/drain/defaults.ts';
import type { Policy } from '../core/drain/policy.ts';
import { tailFacts } from '../core/fluent-conf/facts.ts';
import { CONFIRM_AFTER, isInDoubt, observeAges } from '../core/inspect/ages.ts';
import { type Beside, type Found, foundBy, foundRaw } from '../core/inspect/found.ts';
import type { Paces } from '../core/inspect/paces.ts';
import { diagnose } from '../core/inspect/pos-file-diagnosis.ts';
import type { FollowedReading, PosFileReading, Snapshot } from '../core/look/snapshot.ts';
import type { Observation } from '../core/observe/observation.ts';
import { observe } from '../core/observe/observe.ts';
import { parsePosFile } from '../core/pos-file/pos-file.ts';
import { printable } from '../core/text/printable.ts';
import { counted, formatBytes } from '../core/text/units.ts';
import { FollowedFiles } from '../daemon/list-followed.ts';
import { LogFileLooks } from '../daemon/look-at-files.ts';
import { listPutAside, readBuffers } from '../daemon/read-buffers.ts';
import { PosFiles } from '../daemon/read-pos-files.ts';
import type { Host } from '../host.ts';
import { type InspectSubject, STDIN } from './inspect-subject.ts';
import { PosFileBytes } from './pos-file-bytes.ts';

/** Where no look follows, this one searches for longer. */
const SEARCH_AT_MOST = 1024 ** 3;
/** How far a look is, is told once in so many files. */
const TELL_EVERY = 128;
/** A pos file of this size takes about a second. */
const LARGE = 16 * 1024 * 1024;

/** `inspect` reads files only: it does not look for Fluentd. */
const NOT_LOOKED_FOR = { kind: 'absent', why: 'posidle did not look for Fluentd' } as const;

/** `isLong`: nothing else will be told for a while. */
type Tell = (text: () => string, isLong?: boolean) => void;

/** Looks at what is to be inspected, once or again and again, as the daemon does. */
export class Inspector {
  readonly #host: Host;
  readonly #subject: InspectSubject;
  readonly #paces: Paces | undefined;
  readonly #policy: Policy;
  readonly #bytes: PosFileBytes;
  readonly #posFiles: PosFiles;
  readonly #logFiles: LogFileLooks;
  readonly #followed: FollowedFiles;
  #putAside: ReadonlySet<string> | undefined;
  #seen: Observation | undefined;
  onProgress: Tell = () => {};

  /** `paces`: the looks follow one another; undefined: one look is all. */
  constructor(host: Host, subject: InspectSubject, paces?: Paces) {
    this.#host = host;
    this.#subject = subject;
    this.#paces = paces;
    this.#policy = { ...DEFAULT_POLICY, tail: tailFacts(subject.conf) };
    this.#bytes = new PosFileBytes(host, (path, size) => {
      if (size >= LARGE) this.onProgress(() => `reading ${formatBytes(size)}: ${printable(path)}`, true);
    });
    this.#posFiles = new PosFiles(this.#bytes);
    this.#logFiles = new LogFileLooks({ lookAt: this.#lookAt });
    this.#followed = new FollowedFiles(host, subject.conf);
  }

  /** Where no look follows, and one cannot tell whether in_tail stands still, a second one can. */
  async look(): Promise<Found> {
    const posFiles = await this.#readPosFiles();
    if (this.#subject.raw) return foundRaw(posFiles, (path) => this.#besideOf(path, undefined, 0));
    const snapshot = await this.#snapshot(posFiles);
    this.#seen = observe(this.#seen ?? observeAges(snapshot, this.#policy), snapshot, this.#policy);
    const isReadOnce = posFiles.some(({ path }) => path === STDIN);
    if (this.#paces !== undefined || isReadOnce || !isInDoubt(this.#seen, posFiles))
      return this.#found(snapshot, this.#seen);
    await this.#host.sleep(this.#host.now() + CONFIRM_AFTER);
    const second = await this.#snapshot(await this.#readPosFiles());
    return this.#found(second, observe(observeAges(second, this.#policy, this.#seen), second, this.#policy));
  }

  async #readPosFiles(): Promise<readonly PosFileReading[]> {
    const places = await this.#subject.posFiles();
    this.#bytes.places = places;
    return await this.#posFiles.read(places.map(({ name }) => name));
  }

  /** Positions first, sizes after, buffers last: as in daemon/collect.ts. */
  async #snapshot(posFiles: readonly PosFileReading[]): Promise<Snapshot> {
    const host = this.#host;
    const { conf, witness } = this.#subject;
    const lookedAt = host.now();
    const looks = await this.#logFiles.look(posFiles);
    const listed = await this.#followed.list(this.#paces === undefined ? 'all' : 'rest', looks);
    const testimony = witness === undefined ? undefined : await host.askWitnesses(witness);
    this.#putAside ??= await listPutAside(host, { conf });
    const buffers = await readBuffers(host, { conf, putAsideBefore: this.#putAside });
    return {
      ...{ lookedAt, at: Math.round(host.now()), depth: 'all', posFiles, looks },
      followed: this.#withoutCut(listed, posFiles),
      ...{ source: testimony === undefined ? 'outside' : 'witness', testimony, buffers },
      ...{ fluentd: NOT_LOOKED_FOR, mains: undefined, requests: [] },
    };
  }

  /** Of a pos file that is cut off nobody knows the further entries: a file that seems to have none may have one there. */
  #withoutCut(
    followed: readonly FollowedReading[],
    posFiles: readonly PosFileReading[],
  ): readonly FollowedReading[] {
    const cut = posFiles.filter(({ path }) => this.#bytes.moreOf(path) > 0);
    if (cut.length === 0) return followed;
    const unknown = (path: string) => {
      const why = `${counted(this.#bytes.moreOf(path), 'line')} of it are not looked at`;
      return { posFile: path, refreshInterval: 0, byInode: false, files: [], unknown: why };
    };
    const isCut = new Set(cut.map(({ path }) => path));
    const sources = followed.map((one) =>
      isCut.has(one.posFile) ? { ...unknown(one.posFile), byInode: one.byInode } : one,
    );
    const listed = new Set(followed.map(({ posFile }) => posFile));
    return [...sources, ...cut.filter(({ path }) => !listed.has(path)).map(({ path }) => unknown(path))];
  }

  #found(snapshot: Snapshot, seen: Observation): Found {
    this.#paces?.take(seen);
    const found = foundBy(snapshot, seen, {
      policy: this.#policy,
      paces: this.#paces,
      besideOf: (path) => {
        const blocked = seen.files.filter((file) => file.posFile === path && file.state === 'blocked').length;
        const byInode = snapshot.followed.find(({ posFile }) => posFile === path)?.byInode;
        return this.#besideOf(path, byInode, blocked);
      },
    });
    this.#bytes.forgetBytes();
    return found;
  }

  /** A pos file does not change its kind from look to look. */
  #besideOf(path: string, byInode: boolean | undefined, blocked: number): Beside {
    const bytes = this.#paces === undefined ? this.#bytes.bytesOf(path) : undefined;
    const findings = bytes === undefined ? [] : diagnose(parsePosFile(bytes).entries, { byInode, blocked });
    return { findings, more: this.#bytes.moreOf(path) };
  }

  readonly #lookAt: Host['lookAt'] = async (entries, found, options) => {
    let count = 0;
    const total = [...entries].length;
    await this.#host.lookAt(
      entries,
      (entry, look) => {
        if (count % TELL_EVERY === 0) this.onProgress(() => lookedAt(count, total));
        count += 1;
        found(entry, look);
      },
      {
        ...options,
        ...(this.#paces === undefined && { searchAtMost: SEARCH_AT_MOST }),
        onSearch: ({ path, searched, left }) =>
          this.onProgress(
            () =>
              `searched ${formatBytes(searched)} of ${formatBytes(left)} for a newline: ${printable(path)}`,
          ),
      },
    );
  };
}

function lookedAt(count: number, total: number): string {
  return `looked at ${count} of ${total} files (${Math.floor((count / total) * 100)}%)`;
}
