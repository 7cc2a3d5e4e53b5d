import { BUNDLE } from '../../pods/bundle.ts';
import type { Container, Manifest, PodSpec } from '../../pods/kubernetes.ts';
import { configMapsIn, podIn } from '../../pods/kubernetes.ts';
import { configMap, kustomize } from '../../pods/kustomize.ts';
import { PRELUDE, type Scenario } from './scenarios.ts';

export interface Strategy {
  readonly name: string;
  readonly title: string;
  readonly placement: keyof typeof FOLDERS;
  readonly hasPosidle: boolean;
  readonly isTuned?: boolean;
  /** The container that tells posidle's outcome. */
  readonly teller?: 'posidle' | 'fluentd';
}

const FOLDERS = {
  'native-sidecar': 'docker/kubernetes/native-sidecar',
  'pre-stop': 'docker/kubernetes/pre-stop',
  original: 'test/pods/original',
} as const;
const ALONE = { placement: 'native-sidecar', hasPosidle: false } as const;

export const STRATEGIES: readonly Strategy[] = [
  { name: 'alone', title: 'native sidecar alone', ...ALONE },
  {
    name: 'tuned',
    title: 'tuned: refresh_interval 1s, flush_at_shutdown, preStop sleep 5',
    isTuned: true,
    ...ALONE,
  },
  { name: 'script', title: 'a script that polls the pos file', placement: 'original', hasPosidle: false },
  {
    name: 'posidle',
    title: 'posidle as native sidecar',
    placement: 'native-sidecar',
    hasPosidle: true,
    teller: 'posidle',
  },
  { name: 'hook', title: 'posidle as hook', placement: 'pre-stop', hasPosidle: true, teller: 'fluentd' },
];

/** The Pod of the strategy's placement, with the scenario's main and fluent.conf, and without posidle where the strategy has none. */
export function manifestsOf(scenario: Scenario, strategy: Strategy, endpoint: string): Manifest[] {
  const rendered = kustomize(FOLDERS[strategy.placement]);
  const spec = podIn(rendered);
  const configMaps = configMapsIn(rendered);
  const conf = configMaps.find(({ data }) => 'fluent.conf' in data);
  if (conf === undefined) throw new Error('the placement has no fluent.conf');
  if (!strategy.hasPosidle) withoutPosidle(spec);
  const main = named(spec.containers, 'main');
  main.args = [PRELUDE + scenario.main];
  if (scenario.restartPolicy !== undefined) spec.restartPolicy = scenario.restartPolicy;
  const fluentd = named([...(spec.initContainers ?? []), ...spec.containers], 'fluentd');
  // The script has a shell of its own.
  if (strategy.placement !== 'original') Object.assign(fluentd, scenario.fluentd);
  if (strategy.isTuned) fluentd.lifecycle = { preStop: { exec: { command: ['sleep', '5'] } } };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'with-fluentd' }, spec };
  conf.data = { 'fluent.conf': fluentConf(scenario, strategy, endpoint) };
  return [...configMaps, configMap('posidle', [BUNDLE]), pod];
}

function withoutPosidle(spec: PodSpec): void {
  spec.initContainers = (spec.initContainers ?? []).filter(({ name }) => name === 'fluentd');
  for (const fluentd of spec.initContainers) {
    delete fluentd.env;
    fluentd.volumeMounts = (fluentd.volumeMounts ?? []).filter(({ name }) => name !== 'witness');
  }
}

function fluentConf(
  { tail = '', buffer = {} }: Scenario,
  { isTuned = false }: Strategy,
  endpoint: string,
): string {
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
