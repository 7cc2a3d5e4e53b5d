import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BUNDLE } from '../pods/bundle.ts';
import { BASES, standInFor } from '../pods/images.ts';
import type { Container } from '../pods/kubernetes.ts';
import { kustomize } from '../pods/kustomize.ts';
import { logsOf, missingPodman, podman } from '../pods/podman.ts';
import { posText } from '../support/builders.ts';
import { skipFor } from '../support/needs.ts';
import { until } from '../support/until.ts';

interface DaemonSetSpec {
  readonly template: {
    readonly spec: {
      readonly containers: readonly (Container & { livenessProbe?: unknown; ports?: unknown })[];
    };
  };
}

const LOG = '/var/log/containers/app_default_main-0123456789abcdef.log';
const ASK = `fetch('http://127.0.0.1:8612/metrics').then((answer) => answer.text()).then(console.log)`;

skipFor(missingPodman([BASES.node]));
test("the Pod of the exporter's DaemonSet tells how far the node's logs are read", {
  timeout: 180_000,
}, async () => {
  const node = mkdtempSync(join(tmpdir(), 'posidle-node-'));
  const name = basename(node).toLowerCase();
  onTestFinished(async () => {
    await podman('pod', 'rm', '--force', '--time', '0', name).catch(() => undefined);
    rmSync(node, { recursive: true });
  });
  await podman('play', 'kube', '--network', 'none', '--log-driver', 'k8s-file', writePod(node, name));
  const pod = `${name}-posidle`;
  const ask = () => podman('exec', pod, 'node', '-e', ASK).catch(() => '');
  const told = async () => [await ask()].find((text) => text.includes('posidle_lag_bytes'));
  const metrics = await until('the exporter answers', told, { within: 120_000, every: 500 }).catch(
    async ({ message }: Error) => expect.fail(`${message}\n${await logsOf(pod)}`),
  );
  expect(metrics).toMatch(/^posidle_lag_bytes 4$/m);
  expect(metrics).toMatch(/^posidle_unreadable_pos_files 0$/m);
});

/** A node with one log, of which half is read, and the Pod that the DaemonSet's controller would make there; gives its file. */
function writePod(node: string, name: string): string {
  const log = join(node, 'log/containers', basename(LOG));
  mkdirSync(dirname(log), { recursive: true });
  mkdirSync(join(node, 'conf'));
  writeFileSync(log, 'one\ntwo\n', { mode: 0o640 });
  writeFileSync(
    join(node, 'log/app.pos'),
    posText([{ path: LOG, position: 4, inode: String(statSync(log).ino) }]),
  );
  const [{ spec } = { spec: undefined }] = kustomize('docker/exporter');
  // podman asks with curl, which the image lacks, and has no ports without a network.
  const containers = (spec as DaemonSetSpec).template.spec.containers.map(
    ({ livenessProbe: _, ports: __, ...container }) => {
      return { ...container, image: standInFor(container.image) };
    },
  );
  const paths = { posidle: dirname(BUNDLE), 'fluent-conf': join(node, 'conf'), logs: join(node, 'log') };
  const volumes = Object.entries(paths).map(([volume, path]) => ({ name: volume, hostPath: { path } }));
  const file = join(node, 'pod.yaml');
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers, volumes } }),
  );
  return file;
}
