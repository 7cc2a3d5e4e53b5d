import { program } from '../../pods/bundle.ts';
import {
  type ConfigMap,
  configMapsIn,
  type Manifest,
  named,
  type PodSpec,
  podIn,
} from '../../pods/kubernetes.ts';
import { kustomize } from '../../pods/kustomize.ts';
import { PRELUDE, type Story } from './scenarios.ts';

export interface Strategy {
  readonly name: string;
  readonly title: string;
  readonly placement: keyof typeof FOLDERS;
  readonly hasPosidle: boolean;
  readonly isTuned?: boolean;
}

const FOLDERS = {
  asleep: 'docker/kubernetes/asleep',
  original: 'test/pods/original',
} as const;
const ALONE = { placement: 'asleep', hasPosidle: false } as const;

export const ASLEEP: Strategy = { name: 'asleep', title: 'posidle', placement: 'asleep', hasPosidle: true };

/** The columns of the bench. */
export const STRATEGIES: readonly Strategy[] = [
  { name: 'alone', title: 'native sidecar alone', ...ALONE },
  {
    name: 'tuned',
    title: 'tuned: refresh_interval 1s, flush_at_shutdown, preStop sleep 5',
    isTuned: true,
    ...ALONE,
  },
  { name: 'script', title: 'a script that polls the pos file', placement: 'original', hasPosidle: false },
  ASLEEP,
];

/** The Pod of the strategy's placement, with the story's main and fluent.conf, and without posidle where the strategy has none. */
export function manifestsOf(story: Story, strategy: Strategy, endpoint: string): Manifest[] {
  const { configMaps, spec } = partsOf(story, strategy, endpoint);
  const metadata = { name: 'with-fluentd' };
  if (story.job !== undefined) {
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { ...story.job, template: { spec } } };
    return [...configMaps, job];
  }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
  return [...configMaps, pod];
}

export function partsOf(
  story: Story,
  strategy: Strategy,
  endpoint: string,
): { configMaps: ConfigMap[]; spec: PodSpec } {
  const rendered = kustomize(FOLDERS[strategy.placement]);
  const spec = podIn(rendered);
  const configMaps = configMapsIn(rendered);
  const conf = configMaps.find(({ data }) => 'fluent.conf' in data);
  if (conf === undefined) throw new Error('the placement has no fluent.conf');
  if (!strategy.hasPosidle) withoutPosidle(spec);
  named(spec, 'main').args = [PRELUDE + story.main];
  const fluentd = named(spec, 'fluentd');
  if (strategy.isTuned) fluentd.lifecycle = { preStop: { exec: { command: ['sleep', '5'] } } };
  story.change?.(spec);
  conf.data = { 'fluent.conf': fluentConf(story, strategy, endpoint) };
  return { configMaps: [...configMaps, program()], spec };
}

function withoutPosidle(spec: PodSpec): void {
  spec.initContainers = (spec.initContainers ?? []).filter(({ name }) => name === 'fluentd');
  for (const fluentd of spec.initContainers) {
    delete fluentd.env;
    fluentd.volumeMounts = (fluentd.volumeMounts ?? []).filter(({ name }) => name !== 'posidle');
  }
}

function fluentConf(
  { tail = '', buffer = {} }: Story,
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
