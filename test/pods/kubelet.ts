import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import { standInFor } from './images.ts';
import type { ConfigMap, Container, Mount, PodSpec } from './kubernetes.ts';
import { logsOf, podman } from './podman.ts';
import { makeTerminationLog, makeVolumes } from './volumes.ts';

const DEFAULT_GRACE = 30;
const POD_LIMIT = 90_000;

interface ContainerReport {
  code: number;
  /** Seconds since the epoch. */
  startedAt: number;
  finishedAt: number;
  log: string;
  terminationMessage: string;
  hasReadOnlyRoot: boolean;
  user: string;
  capabilities: readonly string[];
}

export interface PodReport {
  containers: Readonly<Record<string, ContainerReport>>;
  /** Seconds from main's end to the end of the last container. */
  tail: number;
}

interface Live extends Container {
  fullName: string;
  pid: number;
}

/** `patient`: as today. `restarting`: a sidecar that ends before the kubelet has told it to is started again, also in termination (KEP-4438; kubernetes#140133). */
export type KubeletVariant = 'patient' | 'restarting';

/** Plays a Pod to its end as the kubelet would, and tells what came of it. */
export async function playPod(
  spec: PodSpec,
  configMaps: readonly ConfigMap[],
  variant: KubeletVariant = 'patient',
): Promise<PodReport> {
  const root = mkdtempSync(join(tmpdir(), 'posidle-pod-'));
  const name = root.slice(root.lastIndexOf('/') + 1).toLowerCase();
  try {
    await start(root, name, { spec, configMaps });
    const live = await liveContainers(name, running(spec));
    await Promise.all(live.map(postStart));
    const mains = live.filter(({ restartPolicy }) => restartPolicy === undefined);
    await Promise.all(mains.map((container) => ended(container, spec.restartPolicy)));
    await stopSidecars(live, spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE, variant);
    return await report(root, live);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${await allLogs(name)}`);
  } finally {
    await podman('pod', 'rm', '--force', '--time', '0', name).catch(() => undefined);
    rmSync(root, { recursive: true, force: true });
  }
}

async function allLogs(pod: string): Promise<string> {
  const names = await podman('ps', '--all', '--filter', `pod=${pod}`, '--format', '{{.Names}}');
  const logs = names
    .trim()
    .split('\n')
    .map(async (name) => `${name}:\n${await logsOf(name).catch(String)}`);
  return (await Promise.all(logs)).join('\n');
}

interface Played {
  spec: PodSpec;
  configMaps: readonly ConfigMap[];
}

async function start(root: string, name: string, { spec, configMaps }: Played): Promise<void> {
  const volumes = makeVolumes(root, spec, configMaps);
  const containers = running(spec).map(forPodman);
  const initContainers = (spec.initContainers ?? []).filter(isInit).map(forPodman);
  const logs = [...containers, ...initContainers].map((container) => ({
    name: `termination-${container.name}`,
    hostPath: { path: makeTerminationLog(root, container.name), type: 'File' },
  }));
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      shareProcessNamespace: spec.shareProcessNamespace,
      initContainers,
      containers,
      volumes: [
        ...[...volumes].map(([volume, path]) => ({ name: volume, hostPath: { path } })),
        ...subPathVolumes(spec, volumes),
        ...logs,
      ],
    },
  };
  const file = join(root, 'pod.yaml');
  writeFileSync(file, JSON.stringify(pod, undefined, 2));
  await podman('play', 'kube', '--network', 'none', '--log-driver', 'k8s-file', file);
}

/** podman knows no native sidecars: they start as containers, and are stopped as the kubelet stops them. */
function running(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []).filter((container) => !isInit(container)), ...spec.containers];
}

function isInit({ restartPolicy }: Container): boolean {
  return restartPolicy === undefined;
}

/** podman 4.3 knows no subPath: each is a volume of its own. */
function subPathVolumes({ initContainers = [], containers }: PodSpec, volumes: ReadonlyMap<string, string>) {
  const mounts = [...initContainers, ...containers].flatMap(({ volumeMounts = [] }) => volumeMounts);
  const paths = new Map(
    mounts.map((mount) => [asVolume(mount).name, join(volumes.get(mount.name) ?? '', mount.subPath ?? '')]),
  );
  return [...paths]
    .filter(([name]) => !volumes.has(name))
    .map(([name, path]) => ({ name, hostPath: { path, type: 'File' } }));
}

function asVolume({ subPath, ...mount }: Mount): Mount {
  return subPath === undefined ? mount : { ...mount, name: `${mount.name}-${subPath}` };
}

function forPodman({ lifecycle, restartPolicy, ...container }: Container): Container {
  const termination = { name: `termination-${container.name}`, mountPath: '/dev/termination-log' };
  const volumeMounts = [...(container.volumeMounts ?? []).map(asVolume), termination];
  return { ...container, image: standInFor(container.image), volumeMounts };
}

async function liveContainers(pod: string, containers: readonly Container[]): Promise<Live[]> {
  const names = containers.map(({ name }) => `${pod}-${name}`);
  const states = JSON.parse(await podman('inspect', ...names)) as { State: { Pid: number } }[];
  return containers.map((container, index) => ({
    ...container,
    fullName: names[index] ?? '',
    pid: states[index]?.State.Pid ?? 0,
  }));
}

async function postStart({ fullName, lifecycle }: Live): Promise<void> {
  const command = lifecycle?.postStart?.exec.command;
  if (command !== undefined) await podman('exec', fullName, ...command);
}

/** Asking podman costs 0.1 s of CPU, asking /proc nothing. */
async function ended({ fullName, pid }: Live, restartPolicy: PodSpec['restartPolicy']): Promise<void> {
  await until(`${fullName} ends`, () => !isAlive(pid), { within: POD_LIMIT, every: 50 });
  if (restartPolicy === 'Never' || (await podman('wait', fullName)).trim() === '0') return;
  await podman('start', fullName);
  await ended({ fullName, pid: await pidOf(fullName) } as Live, restartPolicy);
}

async function pidOf(fullName: string): Promise<number> {
  return Number(await podman('inspect', '--format', '{{.State.Pid}}', fullName));
}

function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.charAt(stat.lastIndexOf(')') + 2) !== 'Z';
  } catch {
    return false;
  }
}

/** One by one, the last first, each with what is left of the grace period (KEP-753). */
async function stopSidecars(live: readonly Live[], grace: number, variant: KubeletVariant): Promise<void> {
  const end = performance.now() + grace * 1_000;
  const sidecars = live.filter(({ restartPolicy }) => restartPolicy === 'Always').reverse();
  for (const [index, { fullName }] of sidecars.entries()) {
    const left = Math.max(2, Math.ceil((end - performance.now()) / 1_000));
    const stopping = podman('stop', '--time', String(left), fullName);
    const others = variant === 'restarting' ? sidecars.slice(index + 1) : [];
    await Promise.all([stopping, ...others.map((sidecar) => keepRunning(sidecar, stopping))]);
  }
}

/** Starts a sidecar again that ends while another one is being stopped. */
async function keepRunning({ fullName, pid }: Live, stopping: Promise<unknown>): Promise<void> {
  let isStopped = false;
  void stopping.finally(() => (isStopped = true));
  await until(`${fullName} ends, or is the next`, () => isStopped || !isAlive(pid), {
    within: POD_LIMIT,
    every: 50,
  });
  if (!isAlive(pid)) await podman('start', fullName);
}

async function report(root: string, live: readonly Live[]): Promise<PodReport> {
  const containers = Object.fromEntries(
    await Promise.all(
      live.map(async (container) => [container.name, await reportOf(root, container)] as const),
    ),
  );
  const ends = Object.values(containers).map(({ finishedAt }) => finishedAt);
  return { containers, tail: Math.max(...ends) - (containers.main?.finishedAt ?? 0) };
}

async function reportOf(root: string, { name, fullName }: Live): Promise<ContainerReport> {
  await podman('wait', fullName);
  const [seen] = JSON.parse(await podman('inspect', fullName)) as [
    {
      State: { ExitCode: number; StartedAt: string; FinishedAt: string };
      HostConfig: { ReadonlyRootfs: boolean };
      Config: { User: string };
      EffectiveCaps: string[] | null;
    },
  ];
  return {
    code: seen.State.ExitCode,
    startedAt: Date.parse(seen.State.StartedAt) / 1_000,
    finishedAt: Date.parse(seen.State.FinishedAt) / 1_000,
    log: await logsOf(fullName),
    terminationMessage: readFileSync(join(root, 'termination', name), 'utf8'),
    hasReadOnlyRoot: seen.HostConfig.ReadonlyRootfs,
    user: seen.Config.User,
    capabilities: seen.EffectiveCaps ?? [],
  };
}
