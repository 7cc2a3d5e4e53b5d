import { join } from 'node:path';
import type { Container, Manifest, PodSpec } from '../../pods/kubernetes.ts';
import { configMapsIn, podIn } from '../../pods/kubernetes.ts';
import { kustomize } from '../../pods/kustomize.ts';
import { PRELUDE, type Scenario } from './scenarios.ts';

export interface Strategy {
  readonly name: string;
  readonly title: string;
  readonly hasPosidle: boolean;
  readonly isTuned: boolean;
}

export const STRATEGIES: readonly Strategy[] = [
  { name: 'alone', title: 'native sidecar alone', hasPosidle: false, isTuned: false },
  {
    name: 'tuned',
    title: 'tuned: refresh_interval 1s, flush_at_shutdown, preStop sleep 5',
    hasPosidle: false,
    isTuned: true,
  },
  { name: 'posidle', title: 'posidle as native sidecar', hasPosidle: true, isTuned: false },
];

/** The Pod of the placement native-sidecar, with the scenario's main and fluent.conf, and without posidle where the strategy has none. */
export function manifestsOf(
  scenario: Scenario,
  strategy: Strategy,
  endpoint: string,
  posidle: Manifest,
): Manifest[] {
  const rendered = kustomize(join('docker/kubernetes', 'native-sidecar'));
  const spec = podIn(rendered);
  const [conf] = configMapsIn(rendered);
  if (conf === undefined) throw new Error('the placement has no fluent.conf');
  if (!strategy.hasPosidle) withoutPosidle(spec);
  const main = named(spec.containers, 'main');
  main.args = [PRELUDE + scenario.main];
  if (scenario.restartPolicy !== undefined) spec.restartPolicy = scenario.restartPolicy;
  const fluentd = named(spec.initContainers ?? [], 'fluentd');
  Object.assign(fluentd, scenario.fluentd);
  if (strategy.isTuned) fluentd.lifecycle = { preStop: { exec: { command: ['sleep', '5'] } } };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'with-fluentd' }, spec };
  conf.data = { 'fluent.conf': fluentConf(scenario, strategy, endpoint) };
  return [conf, posidle, pod];
}

function withoutPosidle(spec: PodSpec): void {
  spec.initContainers = (spec.initContainers ?? []).filter(({ name }) => name === 'fluentd');
  const fluentd = named(spec.initContainers, 'fluentd');
  delete fluentd.env;
  fluentd.volumeMounts = (fluentd.volumeMounts ?? []).filter(({ name }) => name !== 'witness');
}

function fluentConf({ tail = '', buffer = {} }: Scenario, { isTuned }: Strategy, endpoint: string): string {
  const { type = 'memory', flushInterval = '1s' } = buffer;
  return `<source>
  @type tail
  path /var/log/app/*.log
  pos_file /var/log/fluentd/app.pos
  tag app
  read_from_head true
  refresh_interval ${isTuned ? '1s' : '5s'}
  ${tail}
  <parse>
    @type none
  </parse>
</source>
<match app>
  @type http
  endpoint ${endpoint}
  <format>
    @type json
  </format>
  <buffer>
    @type ${type}
    ${type === 'file' ? 'path /var/log/fluentd/buffer' : ''}
    flush_interval ${flushInterval}
    retry_max_interval 5s
    ${isTuned ? 'flush_at_shutdown true' : ''}
  </buffer>
</match>
`;
}

function named(containers: readonly Container[], name: string): Container {
  const found = containers.find((container) => container.name === name);
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}
