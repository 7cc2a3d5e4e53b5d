import { spreadOf } from '../bench/figures.ts';
import type { Sample } from './samples.ts';
import type { Soaked, Watched } from './soak.ts';

/** What a heap may breathe. */
const MEMORY_SLACK = { share: 1.1, mib: 8 };
const DESCRIPTOR_SLACK = 2;

/** The table, and what is wrong. */
export function report(soaked: Soaked): { readonly text: string; readonly faults: readonly string[] } {
  const faults = faultsOf(soaked);
  const verdict = faults.length === 0 ? 'passed' : `FAILED: ${faults.join('; ')}`;
  return {
    text: [
      table(soaked),
      '',
      counts(soaked),
      '',
      soaked.outcome,
      ...soaked.warnings.slice(-20),
      '',
      verdict,
    ].join('\n'),
    faults,
  };
}

function faultsOf(soaked: Soaked): string[] {
  const missing = soaked.written - soaked.delivered;
  const { watch, export: exporter } = soaked.samples;
  return [
    ...(missing === 0 ? [] : [`${missing} lines are missing`]),
    ...(soaked.code === 0 ? [] : [`watch ended with ${soaked.code}`]),
    ...(soaked.unanswered === 0 ? [] : [`${soaked.unanswered} requests for metrics failed`]),
    ...grown('watch', watch),
    ...grown('export', exporter),
    ...seriesLeft(soaked),
  ];
}

/** The first quarter fills caches: the second one is what the last must be like. */
function grown(name: Watched, samples: readonly Sample[]): string[] {
  const { stable, last } = quartersOf(samples);
  const most = Math.max(stable.memory * MEMORY_SLACK.share, stable.memory + MEMORY_SLACK.mib);
  return [
    ...(last.memory <= most ? [] : [`the memory of ${name} grew`]),
    ...(last.descriptors <= stable.descriptors + DESCRIPTOR_SLACK ? [] : [`the descriptors of ${name} grew`]),
  ];
}

/** A file that was just rotated may be told beside the one in its place. */
function seriesLeft({ files, series }: Soaked): string[] {
  const most = Math.max(...series);
  return most <= files * 1.2 ? [] : [`export told of ${most} files, there are ${files}`];
}

function quartersOf(samples: readonly Sample[]): { readonly stable: Sample; readonly last: Sample } {
  const at = (quarter: number) => Math.floor((samples.length * quarter) / 4);
  return { stable: medianOf(samples.slice(at(1), at(2))), last: medianOf(samples.slice(at(3))) };
}

function medianOf(samples: readonly Sample[]): Sample {
  const median = (figure: keyof Sample) => spreadOf(samples.map((sample) => sample[figure])).median;
  return { memory: median('memory'), descriptors: median('descriptors'), cpu: median('cpu') };
}

function table({ samples }: Soaked): string {
  const rows = Object.entries(samples).map(([name, all]) => {
    const { stable, last } = quartersOf(all);
    const most = Math.max(...all.map(({ memory }) => memory));
    const cells = [
      `${short(stable.memory)} → ${short(last.memory)} (most ${short(most)})`,
      `${stable.descriptors} → ${last.descriptors}`,
      `${short(stable.cpu)} → ${short(last.cpu)}`,
    ];
    return `| ${[name, ...cells].join(' | ')} |`;
  });
  return [
    '| second quarter → last quarter | RSS, MiB | descriptors | CPU, % of a core |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function counts(soaked: Soaked): string {
  const { minutes, files, version, written, delivered, duplicates, rotations, outages, buffered } = soaked;
  const most = Math.max(...buffered).toFixed(1);
  return [
    `${minutes} minutes, ${files} files, Fluentd ${version}: ${rotations} rotations, ${outages} outages, at most ${most} MiB buffered`,
    `${written} lines written, ${delivered} delivered, ${written - delivered} missing, ${duplicates} twice`,
    `at most ${Math.max(...soaked.series)} files told by export; watch ended with ${soaked.code}, ${soaked.drainSeconds} s after main`,
  ].join('\n');
}

const short = (figure: number): string => figure.toFixed(1);
