import { setTimeout as sleep } from 'node:timers/promises';
import type { Manifest } from '../pods/kubernetes.ts';
import { type ContainerStatus, create, createNamespace, kubectl, type Pod, podEvents } from './kubectl.ts';

const LIMIT = 240_000;

interface Ended {
  readonly code: number;
  readonly restarts: number;
  /** Its termination message. */
  readonly message: string;
  /** Empty if the Pod was deleted. */
  readonly log: string;
}

export interface Report {
  readonly phase: string;
  readonly containers: Readonly<Record<string, Ended>>;
  /** Seconds from main's end, or from the call that deleted the Pod, to the Pod's end, as the kubelet reports them. */
  readonly tail: number;
}

export interface Running {
  /** Runs a command in a container. */
  exec(container: string, ...command: readonly string[]): Promise<string>;
  /** Deletes the Pod; its tail begins here. */
  delete(): Promise<void>;
}

export interface Acts {
  /** Begins when all containers run. */
  during?(pod: Running): Promise<void>;
  /** Begins when main has ended for good, as far as its status shows. */
  afterMain?(): void;
}

/** Creates the manifests in a namespace of their own, follows their one Pod to its end, and cleans up. */
export async function play(manifests: readonly Manifest[], acts: Acts = {}): Promise<Report> {
  const namespace = await createNamespace();
  try {
    const followed = follow(namespace, acts);
    followed.catch(() => undefined);
    await create(namespace, manifests);
    await runCronJobs(namespace, manifests);
    const report = await within(LIMIT, followed, namespace);
    if (report.phase === 'Succeeded') await completion(namespace, manifests);
    return report;
  } finally {
    await kubectl(['delete', 'namespace', namespace, '--wait=false']);
  }
}

/** A CronJob's Job begins now, not at its time. */
async function runCronJobs(namespace: string, manifests: readonly Manifest[]): Promise<void> {
  for (const { kind, metadata } of manifests) {
    if (kind === 'CronJob')
      await kubectl(['create', 'job', '-n', namespace, 'now', `--from=cronjob/${metadata.name}`]);
  }
}

async function completion(namespace: string, manifests: readonly Manifest[]): Promise<void> {
  if (!manifests.some(({ kind }) => kind.endsWith('Job'))) return;
  await kubectl(['wait', '-n', namespace, '--for=condition=complete', 'job', '--all', '--timeout=60s']);
}

async function follow(namespace: string, acts: Acts): Promise<Report> {
  const clock = new Clock();
  let acting: Promise<void> | undefined;
  for await (const { type, object: pod } of podEvents(namespace)) {
    const main = statuses(pod).find(({ name }) => name === 'main');
    if (acting === undefined && main?.state.running !== undefined) {
      acting = act(namespace, pod, clock, acts);
      // Awaited below.
      acting.catch(() => undefined);
    }
    if (clock.hasJustEnded(main)) acts.afterMain?.();
    if (type !== 'DELETED' && !['Succeeded', 'Failed'].includes(pod.status.phase)) continue;
    const tail = clock.tail();
    await acting;
    const hasLogs = clock.deletedAt === undefined;
    return { phase: pod.status.phase, tail, containers: await ends(namespace, pod, hasLogs) };
  }
  throw new Error(`kubectl no longer watches the Pods of ${namespace}`);
}

async function act(namespace: string, pod: Pod, clock: Clock, { during }: Acts): Promise<void> {
  const { name } = pod.metadata;
  await during?.({
    exec: (container, ...command) =>
      kubectl(['exec', '-n', namespace, name, '-c', container, '--', ...command]),
    delete: async () => {
      clock.deletedAt = performance.now();
      await kubectl(['delete', 'pod', '-n', namespace, name, '--wait=false']);
    },
  });
}

/** When the end of the Pod began. */
class Clock {
  deletedAt: number | undefined;
  #mainEndedAt: number | undefined;

  /** A main that is restarted has not ended. */
  hasJustEnded(main: ContainerStatus | undefined): boolean {
    const hadEnded = this.#mainEndedAt !== undefined;
    const hasEnded = main?.state.terminated !== undefined;
    if (!hasEnded) this.#mainEndedAt = undefined;
    else this.#mainEndedAt ??= performance.now();
    return hasEnded && !hadEnded;
  }

  tail(): number {
    return (performance.now() - (this.deletedAt ?? this.#mainEndedAt ?? Number.NaN)) / 1_000;
  }
}

function statuses({ status }: Pod): readonly ContainerStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

async function ends(namespace: string, pod: Pod, hasLogs: boolean): Promise<Report['containers']> {
  const all = statuses(pod).map(async ({ name, state, restartCount }) => {
    const log = !hasLogs
      ? ''
      : await kubectl(['logs', '-n', namespace, pod.metadata.name, '-c', name]).catch(String);
    const { exitCode = Number.NaN, message = '' } = state.terminated ?? {};
    return [name, { code: exitCode, restarts: restartCount, message, log }] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}

/** Rejects with the Pod's state and logs when the time is over. */
async function within<T>(limit: number, result: Promise<T>, namespace: string): Promise<T> {
  const timer = new AbortController();
  const late = sleep(limit, undefined, { signal: timer.signal }).then(async () => {
    const pods = await kubectl(['describe', 'pods', '-n', namespace]);
    throw new Error(`not within ${limit} ms: the Pod ends\n${pods}`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([result, late]);
  } finally {
    timer.abort();
  }
}
