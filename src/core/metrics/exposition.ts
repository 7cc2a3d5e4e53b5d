import { printable } from '../text/printable.ts';

/** Each metric that posidle tells; docker/exporter/README.md explains the same ones. */
export const METRICS = {
  posidle_lag_bytes: 'Bytes that Fluentd has not read, in all files of which that is known.',
  posidle_unknown_lag_files: 'Files of which nobody knows how much is left.',
  posidle_lag_seconds: 'How long the oldest unread byte has waited, as far as posidle saw it.',
  posidle_lag_seconds_known: '1 where it has waited no longer than posidle_lag_seconds.',
  posidle_oldest_position_age_seconds:
    'The longest time for which a position beside unread bytes has not moved.',
  posidle_files: 'Log files by state.',
  posidle_verdict_files: 'Log files by verdict.',
  posidle_undiscovered_bytes: 'Bytes in files that in_tail has not found yet.',
  posidle_closed_unread_bytes:
    'Bytes of files that left their paths before they were read, as far as positions show.',
  posidle_doubts: 'What nobody can prove.',
  posidle_unreadable_pos_files: 'Pos files that cannot be read or believed.',
  posidle_buffer_bytes: 'Bytes in the buffers that posidle sees.',
  posidle_buffer_chunks: 'Chunks in the buffers that posidle sees.',
  posidle_file_lag_bytes: 'Bytes of this file that Fluentd has not read.',
  posidle_look_duration_seconds: 'How long the last look took.',
  posidle_looks_total: 'Looks at all files.',
  posidle_state: '1 for the state of the watch.',
  posidle_build_info: '1 for the version of posidle.',
} as const;

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
  const type = name.endsWith('_total') ? 'counter' : 'gauge';
  return `# HELP ${name} ${METRICS[name]}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

export function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return printable(value).replace(/[\\"]/g, '\\$&');
}
