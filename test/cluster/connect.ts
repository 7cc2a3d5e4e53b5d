import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const HELP = 'no cluster: set KUBECONFIG, or CLUSTER_UP to a program that starts one (CONTRIBUTING.md)';

/** Ends the cluster that was started, or does nothing. */
export type Disconnect = () => void;

/** Sets KUBECONFIG to a cluster that answers, or gives the reason why there is none. Under CI=true the lack is a failure. */
export async function connect(): Promise<Disconnect | string> {
  const { KUBECONFIG, CLUSTER_UP, CLUSTER_VERSION, CI } = process.env;
  let disconnect: Disconnect = () => undefined;
  if (!KUBECONFIG && CLUSTER_UP) {
    const words = CLUSTER_VERSION ? [CLUSTER_VERSION] : [];
    const started = execFileSync(CLUSTER_UP, words, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    process.env.KUBECONFIG = started.trim();
    disconnect = () => {
      delete process.env.KUBECONFIG;
      execFileSync(join(dirname(CLUSTER_UP), 'down'), { stdio: 'inherit' });
    };
  }
  const found = process.env.KUBECONFIG ? spawnSync(kubectlPath(), ['get', '--raw', '/readyz']) : undefined;
  if (found?.status === 0) {
    const proxy = spawn(kubectlPath(), ['proxy', '--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    // "Starting to serve on 127.0.0.1:40123"
    const [line] = (await once(createInterface(proxy.stdout), 'line')) as [string];
    process.env.KUBECTL_PROXY = `http://${line.split(' ').at(-1)}`;
    return () => {
      proxy.kill();
      disconnect();
    };
  }
  const reason =
    found === undefined ? HELP : `${HELP}: ${found.error?.message ?? String(found.stderr).trim()}`;
  if (CI === 'true') throw new Error(reason);
  return reason;
}

/** The kubectl of the cluster that CLUSTER_UP started has its version. */
export function kubectlPath(): string {
  return besideKubeconfig('bin/kubectl') ?? 'kubectl';
}

/** Loads an image archive into the node. It takes the archive's path as its last argument. */
export function loadImage(archive: string): void {
  const socket = besideKubeconfig('containerd.sock');
  const ctr = socket && `'${besideKubeconfig('bin/ctr') ?? 'ctr'}' -a '${socket}' -n k8s.io images import`;
  const command = process.env.POSIDLE_LOAD_IMAGE || ctr;
  if (!command) throw new Error("POSIDLE_LOAD_IMAGE: give a command, such as 'kind load image-archive'");
  execFileSync('sh', ['-c', `${command} "$1"`, 'sh', archive], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** This machine's address, as Pods see it. */
export function hostAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((found = []) => found);
  const external = addresses.find(({ family, internal }) => family === 'IPv4' && !internal);
  const address = process.env.POSIDLE_HOST_ADDRESS || external?.address;
  if (!address) throw new Error('POSIDLE_HOST_ADDRESS: give an address of this machine that Pods can reach');
  return address;
}

function besideKubeconfig(name: string): string | undefined {
  const path = join(dirname(process.env.KUBECONFIG ?? ''), name);
  return existsSync(path) ? path : undefined;
}
