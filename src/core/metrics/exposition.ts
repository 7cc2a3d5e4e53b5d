import { printable } from '../text/printable.ts';

/** Each metric that posidle tells; docker/exporter/README.md explains the same ones. */
export const METRICS = {
  posidle_lag_bytes: ['gauge', 'Bytes that Fluentd has not read, in all files of which that is known.'],
  posidle_unknown_lag_files: ['gauge', 'Files of which nobody knows how much is left.'],
  posidle_lag_seconds: ['gauge', 'How long the oldest unread byte has waited, as far as posidle saw it.'],
  posidle_lag_seconds_known: ['gauge', '1 where it has waited no longer than posidle_lag_seconds.'],
  posidle_oldest_position_age_seconds: [
    'gauge',
    'The longest time for which a position beside unread bytes has not moved.',
  ],
  posidle_files: ['gauge', 'Log files by state.'],
  posidle_verdict_files: ['gauge', 'Log files by verdict.'],
  posidle_undiscovered_bytes: ['gauge', 'Bytes in files that in_tail has not found yet.'],
  posidle_closed_unread_bytes: [
    'gauge',
    'Bytes of files that left their paths before they were read, as far as positions show.',
  ],
  posidle_closed_unread_files: [
    'gauge',
    'Files that left their paths before they were read, as far as positions show.',
  ],
  posidle_doubts: ['gauge', 'What nobody can prove.'],
  posidle_unreadable_pos_files: ['gauge', 'Pos files that cannot be read or believed.'],
  posidle_buffer_bytes: ['gauge', 'Bytes in the buffers that posidle sees.'],
  posidle_buffer_chunks: ['gauge', 'Chunks in the buffers that posidle sees.'],
  posidle_file_lag_bytes: ['gauge', 'Bytes of this file that Fluentd has not read.'],
  posidle_file_lag_seconds: [
    'gauge',
    'How long its oldest unread byte has waited, as far as posidle saw it.',
  ],
  posidle_file_position_bytes: ['gauge', 'How far Fluentd has read this file.'],
  posidle_file_size_bytes: ['gauge', 'How long this file is.'],
  posidle_last_movement_age_seconds: ['gauge', 'Since any position moved.'],
  posidle_look_duration_seconds: ['gauge', 'How long the last look took.'],
  posidle_looks_total: ['counter', 'Looks at all files.'],
  posidle_state: ['gauge', '1 for the state of the watch.'],
  posidle_fluentd_running: ['gauge', '1 where Fluentd runs.'],
  posidle_drains_total: ['counter', 'Drains that were begun.'],
  posidle_build_info: ['gauge', '1 for the version of posidle.'],
} as const satisfies Readonly<Record<string, readonly ['gauge' | 'counter', string]>>;

type Labels = Readonly<Record<string, string>>;

/** A number, or one for each set of labels; null: not known. */
type Value = number | null | readonly (readonly [Labels, number | null])[];

export type Told = { readonly [Name in keyof typeof METRICS]?: Value };

/** In Prometheus's text format (prometheus.io/docs/instrumenting/exposition_formats). */
export function renderMetrics(told: Told): string {
  return (Object.keys(METRICS) as (keyof typeof METRICS)[])
    .map((name) => renderMetric(name, told[name] ?? []))
    .join('');
}

function renderMetric(name: keyof typeof METRICS, value: Value): string {
  const samples = typeof value === 'object' ? (value ?? []) : ([[{}, value]] as const);
  // Different paths may look the same when they are printed, and Prometheus takes no series twice: the last one is told.
  const byLabels = new Map(samples.map(([labels, number]) => [renderLabels(labels), number]));
  const lines = [...byLabels].flatMap(([labels, number]) =>
    number === null ? [] : `${name}${labels} ${number}\n`,
  );
  if (lines.length === 0) return '';
  const [type, help] = METRICS[name];
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

export function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return printable(value).replace(/[\\"]/g, '\\$&');
}
