import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Manifest } from '../pods/kubernetes.ts';
import { kubectlPath } from './connect.ts';
import type { Destination } from './destination.ts';
import { api, type Pod } from './kubectl.ts';
import { hasEnded, Site, statusesOf, statusOf } from './site.ts';
import type { Found, Seen } from './watched.ts';

interface Ended {
  /** undefined if it never ran. */
  readonly code: number | undefined;
  readonly restarts: number;
  /** Its termination message. */
  readonly message: string;
  /** Empty if the Pod was deleted: it is gone. */
  readonly log: string;
}

export interface Report {
  readonly phase: string;
  readonly containers: Readonly<Record<string, Ended>>;
  /** Seconds from the call that deleted the Pod, or from main's end, to the Pod's end, as the kubelet reports them. */
  readonly tail: number;
  /** The lines at the destination. */
  readonly lines: ReadonlySet<string>;
}

export interface Acts {
  /** Begins when the Pod is there. */
  early?(pod: Playing): Promise<void>;
  /** Begins when main runs. */
  during?(pod: Playing): Promise<void>;
  /** Begins when main has ended for good. */
  afterMain?(): void;
}

export class Playing {
  deletedAt: number | undefined;
  readonly #site: Site;
  readonly #uid: string;
  readonly name: string;

  constructor(site: Site, { metadata }: Pod) {
    this.#site = site;
    this.#uid = metadata.uid;
    this.name = metadata.name;
  }

  get namespace(): string {
    return this.#site.namespace;
  }

  until<T>(what: string, look: (pod: Seen) => T): Promise<Found<T>> {
    return this.#site.until(what, (pods) => {
      const own = pods.find(({ metadata }) => metadata.uid === this.#uid);
      return own === undefined ? undefined : look(own);
    }) as Promise<Found<T>>;
  }

  kubectl(...words: readonly string[]): Promise<string> {
    return this.#site.kubectl(...words);
  }

  exec(container: string, script: string): Promise<string> {
    return this.kubectl('exec', this.name, '-c', container, '--', 'sh', '-c', script);
  }

  /** The Pod's tail begins here. */
  async delete(...words: readonly string[]): Promise<void> {
    this.deletedAt = performance.now();
    await this.kubectl('delete', 'pod', this.name, '--wait=false', ...words);
  }

  async log(container: string): Promise<string> {
    const pod = `/api/v1/namespaces/${this.namespace}/pods/${this.name}`;
    return (await api(`${pod}/log?container=${container}`)).text();
  }

  /** All that a container prints until it ends, also in a Pod that is deleted. */
  async printed(container: string): Promise<readonly string[]> {
    const words = ['logs', '-n', this.namespace, this.name, '-c', container, '--follow'];
    const child = spawn(kubectlPath(), words, { stdio: ['ignore', 'pipe', 'ignore'] });
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) lines.push(line);
    return lines;
  }
}

/** Creates the manifests in a namespace of their own, follows their one Pod to its end, and cleans up. */
export function play(
  manifestsFor: (destination: Destination) => readonly Manifest[],
  actsAt: (destination: Destination) => Acts = () => ({}),
): Promise<Report> {
  return Site.use(async (site) => {
    const acts = actsAt(site.destination);
    const manifests = manifestsFor(site.destination);
    await site.create(...manifests);
    const pod = new Playing(site, await site.until('a Pod is there', ([first]) => first));
    const begin = mainEnd(pod, acts);
    const end = pod.until('the Pod ends', (seen) => hasEnded(seen) && { seen, at: performance.now() });
    const doing = [acts.early?.(pod), whileMainRuns(pod, acts)];
    const [{ seen, at }, mainEndedAt] = await Promise.all([end, begin, ...doing]);
    const report = {
      phase: seen.status.phase,
      tail: (at - (pod.deletedAt ?? mainEndedAt)) / 1_000,
      containers: await endsOf(pod, seen),
      lines: site.destination.lines,
    };
    if (report.phase === 'Succeeded' && !isDeleted(seen) && manifests.some(({ kind }) => kind === 'Job'))
      await site.kubectl('wait', '--for=condition=complete', 'job', '--all', '--timeout=60s');
    return report;
  });
}

async function mainEnd(pod: Playing, acts: Acts): Promise<number> {
  const at = await pod.until(
    'main ends',
    (seen) => (hasEnded(seen) || isMainOver(seen)) && performance.now(),
  );
  acts.afterMain?.();
  return at;
}

/** A main that is restarted has not ended. */
function isMainOver(pod: Seen): boolean {
  const end = statusOf(pod, 'main')?.state.terminated;
  return end !== undefined && (pod.spec.restartPolicy === 'Never' || end.exitCode === 0);
}

async function whileMainRuns(pod: Playing, acts: Acts): Promise<void> {
  const { isRunning } = await pod.until('main runs', (seen) => {
    const isRunning = statusOf(seen, 'main')?.state.running !== undefined;
    return (isRunning || hasEnded(seen)) && { isRunning };
  });
  if (isRunning) await acts.during?.(pod);
  // A Pod that is deleted early may have no main.
  else if (acts.during !== undefined && acts.early === undefined)
    throw new Error('nobody saw main run: nothing could be done meanwhile');
}

function isDeleted({ isGone, metadata }: Seen): boolean {
  return isGone || metadata.deletionTimestamp !== undefined;
}

async function endsOf(pod: Playing, seen: Seen): Promise<Report['containers']> {
  const all = statusesOf(seen).map(async ({ name, state, restartCount }) => {
    const log = isDeleted(seen) ? '' : await pod.log(name).catch(String);
    const { exitCode: code, message = '' } = state.terminated ?? {};
    return [name, { code, restarts: restartCount, message, log }] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}
