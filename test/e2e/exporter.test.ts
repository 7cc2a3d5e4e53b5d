import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as yaml from 'js-yaml';
import { describe, expect, onTestFinished, test } from 'vitest';
import { variableOf } from '../../src/commands/options/environment.ts';
import { exportOptions } from '../../src/commands/options/inspect-options.ts';
import { METRICS } from '../../src/core/metrics/metrics.ts';
import { standInFor } from '../pods/images.ts';
import { podIn } from '../pods/kubernetes.ts';
import { kustomize } from '../pods/kustomize.ts';
import { posText } from '../support/builders.ts';
import { freePort } from '../support/free-port.ts';
import { loggedIn, startPosidle } from '../support/posidle.ts';
import { expectNoFault, type Rules } from '../support/prometheus.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const DIR = 'docker/exporter';
const manifests = kustomize(DIR);
const rules = manifests.find(({ kind }) => kind === 'PrometheusRule')?.spec as Rules;
const alerts = rules.groups.flatMap((group) => group.rules);
const dashboard = readFileSync(join(DIR, 'dashboard.json'), 'utf8');

const at = tempDir();

function inFiles(files: Readonly<Record<string, unknown>>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(at(name), yaml.dump(content));
}

describe('the manifests of the exporter', () => {
  test('the DaemonSet has a tested image, and options that exist', () => {
    const [container] = podIn(kustomize(join(DIR, 'daemonset'))).containers;
    expect(standInFor(container?.image ?? '')).toBeDefined();
    expect(container?.args).toEqual(['export']);
    const known = [...Object.keys(exportOptions).map(variableOf), 'MALLOC_TRIM_THRESHOLD_', 'NODE_OPTIONS'];
    expect(container?.env?.filter(({ name }) => !known.includes(name))).toEqual([]);
  });

  test('rules and dashboard ask only for metrics that there are, in PromQL', (context) => {
    const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(10);
    const asked = [...queries, ...alerts.map(({ expr }) => expr)].join('\n').match(/posidle_\w+/g) ?? [];
    expect(asked.filter((name) => !Object.hasOwn(METRICS, name))).toEqual([]);
    const recorded = queries.map((expr, at) => ({ record: `query_${at}`, expr }));
    inFiles({ 'queries.yml': { groups: [{ name: 'dashboard', rules: recorded }] } });
    expectNoFault(['check', 'rules', at('queries.yml')], '', context);
  });

  test('each alert comes when it should, waits as long as it says, and goes', (context) => {
    const series = (name: string, values: string) => ({ series: `${name}{instance="node-1"}`, values });
    const labels = (severity: string) => ({ exp_labels: { severity, instance: 'node-1' } });
    const isThere = (alertname: string, minutes: readonly number[], value: object) =>
      minutes.map((minute, index) => ({
        alertname,
        eval_time: `${minute}m`,
        exp_alerts: index === 1 ? [annotated(alertname, value)] : [],
      }));
    const annotated = (alertname: string, value: object) => {
      const { annotations } = alerts.find(({ alert }) => alert === alertname) as unknown as {
        annotations: Record<string, string>;
      };
      const filled = Object.entries(annotations).map(([name, text]) => [
        name,
        text
          .replace('{{ $value }}', '2')
          .replace('{{ $value | humanizeDuration }}', '1m 40s')
          .replace('{{ $value | humanize1024 }}', '16.21Mi')
          .replace('{{ $labels.instance }}', 'node-1'),
      ]);
      return { ...value, exp_annotations: Object.fromEntries(filled) };
    };
    const spec = {
      rule_files: ['rules.yml'],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: [
            series('posidle_standstill_seconds', '0x4 100x9 0x20'),
            series('posidle_read_bytes_total', '0+6000x60'),
            series('posidle_lag_bytes', '0x4 1000000+1000000x19 0x20'),
            series('posidle_closed_unread_bytes', '0x9 3x40'),
            series('posidle_unreadable_pos_files', '0x4 2x9 0x20'),
          ],
          // Not yet, now, and no longer.
          alert_rule_test: [
            ...isThere('PosidleStalled', [8, 10, 16], labels('warning')),
            ...isThere('PosidleUnknown', [9, 11, 16], labels('warning')),
            ...isThere('PosidleFallingBehind', [19, 21, 26], labels('warning')),
            ...isThere('PosidleLosing', [9, 11, 30], labels('critical')),
          ],
        },
      ],
    };
    inFiles({ 'rules.yml': rules, 'test.yml': spec });
    expectNoFault(['test', 'rules', at('test.yml')], '', context);
  });
});

test('the alerts that need kube-state-metrics come for one bad Pod or Job each', (context) => {
  const ofPods = yaml.load(readFileSync('docker/alerts-prometheus.yaml', 'utf8')) as Rules;
  const series = (text: string) => {
    const [name = '', ...labels] = text.split(' ');
    return `${name}{${['namespace="a"', ...labels].join(', ')}}`;
  };
  const input = [
    ...['Completed', 'OOMKilled'].map(
      (reason) =>
        `kube_pod_init_container_status_terminated_reason container="posidle" pod="${reason}" reason="${reason}"`,
    ),
    ...['refused', 'done', 'suspended'].map((job) => `kube_job_status_active job_name="${job}"`),
    'kube_job_complete condition="true" job_name="done"',
    'kube_job_status_suspended condition="true" job_name="suspended"',
    'kube_job_status_suspended condition="false" job_name="refused"',
    ...['with', 'without'].map((pod) => `kube_pod_labels label_posidle="true" pod="${pod}"`),
    'kube_pod_init_container_info container="posidle" pod="with"',
  ];
  const isZero = /^kube_job_status_active|condition="false"/;
  const bad = {
    PosidleFailed: 'pod="OOMKilled"',
    PosidlePodRefused: 'job_name="refused"',
    PosidleMissing: 'pod="without"',
  };
  const told = ofPods.groups
    .flatMap((group) => group.rules)
    .map(({ alert, expr }) => ({
      expr: `group by (pod, job_name) (${expr})`,
      exp_samples: [{ labels: `{${bad[alert as keyof typeof bad]}}`, value: 1 }],
    }));
  const spec = {
    rule_files: ['rules.yml'],
    tests: [
      {
        input_series: input.map((text) => ({ series: series(text), values: isZero.test(text) ? '0' : '1' })),
        promql_expr_test: told,
      },
    ],
  };
  inFiles({ 'rules.yml': ofPods, 'test.yml': spec });
  expectNoFault(['test', 'rules', at('test.yml')], '', context);
});

test('posidle export tells how far a log is read, in what Prometheus takes, until it is stopped', async (context) => {
  writeFileSync(at('app.pos'), posText([loggedIn(at(), 'app.log', 'one\ntwo\n', 4)]));
  const port = await freePort();
  const exporter = startPosidle(['export', at('app.pos'), '--listen', `127.0.0.1:${port}`]);
  onTestFinished(() => exporter.kill('SIGKILL'));
  const ask = async (page: string) => await fetch(`http://127.0.0.1:${port}/${page}`).catch(() => undefined);
  const told = async () =>
    [await (await ask('metrics'))?.text()].find((text) => text?.includes('posidle_lag'));
  const metrics = await until('it answers', told);
  expect(metrics).toMatch(/^posidle_lag_bytes 4$/m);
  expectNoFault(['check', 'metrics'], metrics, context);
  expect((await ask('healthz'))?.status).toBe(200);
  exporter.kill('SIGTERM');
  expect(await exporter.exited).toBe(0);
});
