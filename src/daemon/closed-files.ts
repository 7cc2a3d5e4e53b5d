import type { Snapshot } from '../core/look/snapshot.ts';
import type { Host } from '../host.ts';

type Closed = Pick<Snapshot, 'closed' | 'unsure'>;
type Found = Pick<Snapshot, 'posFiles' | 'looks' | 'followed' | 'fluentd'>;

const NONE: Closed = { closed: new Set(), unsure: new Set() };

/** The files that Fluentd should read, has read nothing of, and may not read. */
export class ClosedFiles {
  readonly #host: Host;
  #before: Pick<Found, 'looks' | 'followed'> | undefined;
  #waiting: readonly string[] = [];

  constructor(host: Host) {
    this.#host = host;
  }

  async find(found: Found): Promise<Closed> {
    const { looks, followed, fluentd } = found;
    if (looks !== this.#before?.looks || followed !== this.#before.followed) {
      this.#before = { looks, followed };
      this.#waiting = waitingIn(found);
    }
    // A reader looks at the process first.
    if (this.#waiting.length === 0) return NONE;
    const pid = fluentd.kind === 'running' ? (fluentd.workers[0] ?? fluentd.supervisor).pid : undefined;
    const answers = await this.#host.mayRead(pid, this.#waiting);
    const pathsWith = (answer: boolean | undefined) =>
      new Set([...answers].filter(([, told]) => told === answer).map(([path]) => path));
    return { closed: pathsWith(false), unsure: pathsWith(undefined) };
  }
}

function waitingIn({ posFiles, followed }: Found): readonly string[] {
  const entries = posFiles.flatMap((reading) => (reading.kind === 'read' ? reading.entries : []));
  const begun = new Set(entries.filter(({ position }) => position !== 0).map(({ path }) => path));
  const files = followed.flatMap((source) => source.files);
  return files.filter(({ path, size }) => size > 0 && !begun.has(path)).map(({ path }) => path);
}
