import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configMapsIn, type Manifest, named, specIn } from '../pods/kubernetes.ts';
import { configMap, kustomize } from '../pods/kustomize.ts';
import type { Destination } from './destination.ts';

const CONFIGURATION = 'fixtures/people/daemonset';
const PLUGIN = 'test/witness/lib/fluent/plugin/filter_kubernetes_metadata.rb';
/** As a container runtime writes them. */
const WRITES = `mkdir -p /var/log/containers
for line in $(seq 20); do
  echo '{"log":"line '$line'","stream":"stdout","time":"2026-11-27T12:00:00.000000000Z"}' >>/var/log/containers/a_b_c-0.log
done`;

/** The demo's Job, with the configuration of the official images for nodes. */
export function withNodesConfiguration({ endpoint }: Destination): readonly Manifest[] {
  const manifests = kustomize('docker/kubernetes/demo');
  const read = (name: string) =>
    readFileSync(join(CONFIGURATION, name), 'utf8').replaceAll('/DIR', '/var/log');
  for (const conf of configMapsIn(manifests))
    conf.data = Object.fromEntries(readdirSync(CONFIGURATION).map((name) => [name, read(name)]));
  const spec = specIn(manifests);
  const logs = { name: 'logs', mountPath: '/var/log' };
  Object.assign(named(spec, 'main'), { args: [WRITES], volumeMounts: [logs] });
  const fluentd = named(spec, 'fluentd');
  const { hostname, port } = new URL(endpoint);
  fluentd.env = [
    { name: 'SINK_HOST', value: hostname },
    { name: 'SINK_PORT', value: port },
  ];
  const own = (fluentd.volumeMounts ?? []).filter(({ name }) => name === 'fluent-conf');
  fluentd.volumeMounts = [...own, logs, { name: 'plugins', mountPath: '/fluentd/plugins' }];
  spec.volumes?.push({ name: 'plugins', configMap: { name: 'plugins' } });
  return [...manifests, configMap('plugins', [PLUGIN])];
}
