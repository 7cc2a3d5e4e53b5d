import { readGate } from '../drain/gates.ts';
import { NEXT, type State } from '../drain/state.ts';
import { byLag, type Found } from '../inspect/found.ts';
import { STATES } from '../look/file-state.ts';
import type { Observation, ObservedFile } from '../look/observation.ts';
import { brokenIn } from '../pos-file/pos-file.ts';
import { bytesToRead, heldIn } from '../progress/progress.ts';
import { sum } from '../text/lists.ts';
import { printable } from '../text/printable.ts';
import type { Millis } from '../text/units.ts';

/** All metrics, with their help texts. */
export const METRICS = {
  posidle_lag_bytes:
    'Bytes that Fluentd still has to read, without unfinished last lines, as far as they are known. Left out instead of 0 if some are unknown.',
  posidle_unknown_lag_files: 'Files with an unknown lag.',
  posidle_read_bytes_total: 'Bytes that Fluentd has read since the first look.',
  posidle_standstill_seconds: 'The longest time for which nothing was read of a file with unread bytes.',
  posidle_files: 'Log files by state.',
  posidle_undiscovered_bytes: 'Bytes in files that in_tail has not found yet, if fluent.conf is known.',
  posidle_undiscovered_seconds: 'The longest time for which in_tail has not found a file with bytes in it.',
  posidle_closed_unread_bytes:
    'Bytes of files that nobody saw read when they left their paths. Fluentd may have read them since.',
  posidle_doubts: 'Doubts: facts that keep the outcome from being drained.',
  posidle_unreadable_pos_files: 'Pos files that cannot be read or believed.',
  posidle_buffer_bytes:
    'Bytes in the buffers that posidle sees: on disk, if fluent.conf is known, and with a witness all.',
  posidle_buffer_chunks: 'Chunks in the buffers that posidle sees.',
  posidle_read_lines: 'Lines that Fluentd has read, if a witness counts them.',
  posidle_records: 'Records of each output, by what became of them, if a witness counts them.',
  posidle_file_lag_bytes: 'Bytes of this file that Fluentd has not read.',
  posidle_look_duration_seconds: 'How long the last look took.',
  posidle_looks_total: 'Looks at all files.',
  posidle_fluentd_cpu_seconds_total: "CPU time of Fluentd's first worker, which posidle must see.",
  posidle_fluentd_memory_bytes: "Memory of Fluentd's first worker, which posidle must see.",
  posidle_state: '1 for the state of the watch.',
  posidle_build_info: '1 for the version of posidle.',
} as const;

type Labels = Readonly<Record<string, string>>;

/** A number, or one number for each set of labels. Null if unknown. */
type Value = number | null | readonly (readonly [Labels, number | null])[];

type MetricValues = { readonly [Name in keyof typeof METRICS]?: Value };

/** In Prometheus's text format (prometheus.io/docs/instrumenting/exposition_formats). */
export function renderMetrics(told: MetricValues): string {
  return (Object.keys(METRICS) as (keyof typeof METRICS)[])
    .map((name) => renderMetric(name, told[name] ?? []))
    .join('');
}

function renderMetric(name: keyof typeof METRICS, value: Value): string {
  const samples = typeof value === 'object' ? (value ?? []) : ([[{}, value]] as const);
  // Different paths may print as the same label, and Prometheus refuses duplicate series: the last one wins.
  const byLabels = new Map(samples.map(([labels, number]) => [renderLabels(labels), number]));
  const lines = [...byLabels].flatMap(([labels, number]) =>
    number === null ? [] : `${name}${labels} ${number}\n`,
  );
  if (lines.length === 0) return '';
  const type = name.endsWith('_total') ? 'counter' : 'gauge';
  return `# HELP ${name} ${METRICS[name]}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return printable(value).replace(/[\\"]/g, '\\$&');
}

export interface Inspected {
  readonly found: Found;
  readonly took: Millis;
  readonly looks: number;
}

/** The metrics of `export`. `perFile`: how many single files get their own series. */
export function metricsOfInspection({ found, took, looks }: Inspected, perFile: number): string {
  const { seen, rates } = found;
  // Their broken lines hide files.
  const damaged = found.posFiles.filter(({ unparsable }) => brokenIn(unparsable).length > 0).length;
  return renderMetrics({
    ...metricsOfFiles(seen),
    ...(damaged > 0 && { posidle_lag_bytes: bytesToRead(seen.progress) || null }),
    posidle_unreadable_pos_files: seen.unknown.length + damaged,
    posidle_read_bytes_total: rates?.total.read ?? null,
    posidle_undiscovered_seconds: seconds(rates?.unfoundFor ?? 0),
    posidle_file_lag_bytes: furthestBehind(seen.files, perFile),
    posidle_look_duration_seconds: seconds(took),
    posidle_looks_total: looks,
  });
}

export interface Watched {
  readonly state: State;
  readonly seen: Observation;
}

/** What Fluentd's first worker uses. */
export interface Usage {
  /** Percent of one core, since the last question. */
  readonly cpu: number;
  /** The time on a CPU since its start. */
  readonly cpuTime: Millis;
  /** Bytes. */
  readonly memory: number;
}

export function metricsOfWatch({ state, seen }: Watched, usage: Usage | undefined): string {
  return renderMetrics({
    ...metricsOfFiles(seen),
    posidle_fluentd_cpu_seconds_total: usage === undefined ? null : seconds(usage.cpuTime),
    posidle_fluentd_memory_bytes: usage?.memory ?? null,
    posidle_state: Object.keys(NEXT).map((name) => [{ state: name }, Number(name === state.name)]),
  });
}

function metricsOfFiles(seen: Observation): MetricValues {
  const { files, undiscovered, progress } = seen;
  const byState = new Map<string, number>();
  for (const { state } of [...files, ...undiscovered]) byState.set(state, (byState.get(state) ?? 0) + 1);
  const held = heldIn(progress.left);
  const isUnseen = progress.source === 'files' && seen.buffers?.unseen.length !== 0;
  const ofBuffers = (numbers: readonly number[]) => (held.length === 0 && isUnseen ? null : sum(numbers));
  const unread = progress.doubts.filter(({ kind }) => kind === 'closed-unread');
  return {
    posidle_lag_bytes: lagIn(seen),
    posidle_unknown_lag_files: files.filter(({ lag }) => lag === null).length,
    posidle_standstill_seconds: seconds(standstillOf(seen)),
    posidle_files: STATES.map((state) => [{ state }, byState.get(state) ?? 0]),
    posidle_undiscovered_bytes: sum(undiscovered.map(({ lag }) => lag ?? 0)),
    posidle_closed_unread_bytes: sum(unread.map(({ bytes = 0 }) => bytes)),
    posidle_doubts: progress.doubts.length,
    posidle_unreadable_pos_files: seen.unknown.length,
    posidle_buffer_bytes: ofBuffers(held.map(({ bytes }) => bytes)),
    posidle_buffer_chunks: ofBuffers(held.map(({ chunks }) => chunks)),
    posidle_read_lines: progress.lines ?? null,
    posidle_records: progress.outputs.flatMap(({ output, ...records }) =>
      Object.entries(records).map(([what, n]) => [{ output, what }, n ?? null] as const),
    ),
  };
}

/** Null if nothing is known to be left, and something is unknown: 0 would mean that all is read. */
function lagIn(seen: Observation): number | null {
  const { progress, files } = seen;
  const bytes = bytesToRead(progress);
  const isUnknown =
    readGate(seen) !== undefined || (files.length > 0 && files.every(({ lag }) => lag === null));
  return bytes === 0 && isUnknown ? null : bytes;
}

function standstillOf({ files, at }: Observation): Millis {
  let longest = 0;
  for (const { read, movedAt, leftSince = at } of files) {
    if (read) continue;
    longest = Math.max(longest, at - Math.max(movedAt, leftSince));
  }
  return longest;
}

/** The most bytes for all series of single files: one path may have 4,096. */
const MOST_BYTES = 1024 ** 2;

/** The files with the largest or an unknown lag. A missing file without lag gets no series. */
function furthestBehind(files: readonly ObservedFile[], count: number) {
  const there = files.filter(
    ({ state, lag }) => state !== 'unwatched' && !(state === 'missing' && lag === 0),
  );
  let left = MOST_BYTES;
  return byLag(there)
    .slice(0, count)
    .map(({ posFile, path, inode, lag }) => [{ path, inode, pos_file: posFile }, lag] as const)
    .filter(([labels]) => {
      left -= renderLabels(labels).length;
      return left > 0;
    });
}

function seconds(span: Millis): number {
  return Math.round(span) / 1_000;
}
