import { formatDuration, type Millis } from '../text/units.ts';
import type { BufferConf } from './buffer-sections.ts';
import { placeText } from './element.ts';
import type { Multiline } from './multiline.ts';
import type { TailSource } from './tail.ts';

/** The waits that are measured against what in_tail needs. */
export interface Waits {
  readonly quiet?: Millis | undefined;
  readonly grace?: Millis | undefined;
}

type TailWaits = Pick<TailSource, 'refreshInterval' | 'rotateWait'>;

interface Sources {
  readonly sources: readonly TailSource[];
}

/** The quiet window that in_tail needs: it finds a new file, and then reads the one that was renamed to its end. */
export function quietNeededBy({ refreshInterval, rotateWait }: TailWaits): Millis {
  return refreshInterval + rotateWait;
}

/** New files that may be missed because posidle waits for less time than in_tail takes to find them. */
export function quietWarnings(conf: Sources, waits: Waits): string[] {
  return conf.sources.flatMap((source) => [
    ...tooShort(source, waits.quiet, quietNeededBy(source), (needed) => `\`quiet\` ${needed}`),
    ...tooShort(
      source,
      waits.grace,
      source.refreshInterval,
      (needed) => `\`grace\` ${needed} with a longer terminationGracePeriodSeconds`,
    ),
  ]);
}

type Remedy = (needed: string) => string;

function tooShort(source: TailSource, wait: Millis | undefined, needed: Millis, remedy: Remedy): string[] {
  const { place, refreshInterval } = source;
  if (wait === undefined || wait >= needed) return [];
  const shorter = Math.min(5, Math.floor((wait - needed + refreshInterval) / 1_000));
  const refresh = shorter > 0 ? `refresh_interval ${shorter}s, or ` : '';
  return [
    `${placeText(place)}: in_tail looks for new files every ${formatDuration(refreshInterval)}. posidle may stop Fluentd ` +
      `${formatDuration(wait)} after main's last line: set ${refresh}${remedy(`${Math.ceil(needed / 1_000)}s`)}.`,
  ];
}

interface Multilines {
  readonly multiline: readonly Multiline[];
  readonly buffers: readonly BufferConf[];
}

/** The last record that a multiline plugin holds comes out at the shutdown, too late for a file buffer. */
export function multilineWarnings({ multiline, buffers }: Multilines): string[] {
  const keeps = buffers.some(({ type, flushAtShutdown }) => type !== 'memory' && !flushAtShutdown);
  return multiline
    .filter(({ flushInterval }) => keeps && flushInterval === undefined)
    .map(
      ({ place, name, setting }) =>
        `${placeText(place)}: the last record of ${name} comes out when Fluentd stops, and then stays in a file buffer: ` +
        `set ${setting} 1s, or flush_at_shutdown true.`,
    );
}
