import { printable } from '../text/printable.ts';
import type { StateName } from './state.ts';
import type { Status } from './status.ts';

const STATES: readonly StateName[] = ['waiting', 'watching', 'draining', 'stopping', 'killing', 'stopped'];

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly Sample[];
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** The status in Prometheus's text format (prometheus.io/docs/instrumenting/exposition_formats). */
export function renderMetrics(status: Status, drains: number): string {
  return metricsOf(status, drains)
    .filter(({ samples }) => samples.length > 0)
    .map(renderMetric)
    .join('');
}

function metricsOf(status: Status, drains: number): readonly Metric[] {
  const { files, buffers, age } = status;
  const known = files.flatMap(({ path, inode, lag }): Sample[] =>
    lag === null ? [] : [[{ path, inode }, lag]],
  );
  const byState = countStates(status);
  return [
    gauge('posidle_file_lag_bytes', 'Bytes of a log file that Fluentd has not read.', known),
    gauge('posidle_lag_bytes', 'Bytes that Fluentd has not read, in all files.', [[{}, status.lag]]),
    gauge('posidle_files', 'Log files by state.', byState),
    gauge(
      'posidle_last_movement_age_seconds',
      'Since any position moved.',
      age === null ? [] : [[{}, age / 1_000]],
    ),
    gauge(
      'posidle_buffer_chunks',
      'Chunks in buffers, while draining.',
      buffers === null ? [] : [[{}, buffers.chunks]],
    ),
    gauge(
      'posidle_buffer_bytes',
      'Bytes in buffers, while draining.',
      buffers === null ? [] : [[{}, buffers.bytes]],
    ),
    gauge(
      'posidle_state',
      '1 for the state of the watch.',
      STATES.map((state) => [{ state }, Number(state === status.state)]),
    ),
    gauge('posidle_fluentd_running', '1 where Fluentd runs.', [
      [{}, Number(status.fluentd.kind !== 'absent')],
    ]),
    {
      name: 'posidle_drains_total',
      help: 'Drains that were begun.',
      type: 'counter',
      samples: [[{}, drains]],
    },
  ];
}

function countStates({ files, undiscovered }: Status): readonly Sample[] {
  const counts = new Map<string, number>();
  for (const { state } of files) counts.set(state, (counts.get(state) ?? 0) + 1);
  counts.set('undiscovered', undiscovered.length);
  return [...counts].map(([state, count]): Sample => [{ state }, count]);
}

function gauge(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, help, type: 'gauge', samples };
}

function renderMetric({ name, help, type, samples }: Metric): string {
  const lines = samples.map(([labels, value]) => `${name}${renderLabels(labels)} ${value}`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`;
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return printable(value).replace(/[\\"]/g, '\\$&');
}
